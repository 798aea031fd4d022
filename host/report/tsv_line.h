#pragma once

#include "host/document/sink.h"
#include "host/dump/document.h"
#include "host/report/printable.h"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// A line of a TSV table. `Field` has the columns in their order; among them kind, rank, pid, host,
/// endpoint, reason, message and hint. A column that is not set is empty.
template <class Field, std::size_t columns>
class TsvLine {
public:
  explicit TsvLine(std::string_view kind) { set(Field::kind, kind); }
  TsvLine(std::string_view kind, const RankDump& rank) : TsvLine(kind) {
    set_number(Field::rank, rank.rank);
    set_number(Field::pid, rank.pid);
    set(Field::host, rank.host.value_or(""));
    set(Field::endpoint, rank.endpoint);
  }

  void set(Field field, std::string_view text) {
    cells_[static_cast<std::size_t>(field)] = tsv_escaped(text);
  }
  template <class T>
  void set_number(Field field, T number) {
    cells_[static_cast<std::size_t>(field)] = fmt::format("{}", number);
  }
  template <class T>
  void set_number(Field field, const std::optional<T>& number) {
    if (number)
      set_number(field, *number);
  }
  void set_flag(Field field, const std::optional<bool>& flag) {
    if (flag)
      set(field, *flag ? "true" : "false");
  }
  void set_address(Field field, const std::optional<std::uint64_t>& address) {
    if (address)
      cells_[static_cast<std::size_t>(field)] = fmt::format("{:#x}", *address);
  }

  void write(const Sink& sink) const {
    std::string text;
    for (const std::string& cell : cells_)
      text += cell + '\t';
    text.back() = '\n';
    sink(text);
  }
  void write_error(const RankError& error, const Sink& sink) {
    set(Field::reason, error.code);
    set(Field::message, error.message);
    set(Field::hint, error.hint);
    write(sink);
  }

private:
  std::array<std::string, columns> cells_;
};

/// The first line of the table.
inline void write_titles(std::span<const std::string_view> titles, const Sink& sink) {
  std::string text;
  for (const std::string_view title : titles)
    text += std::string(title) + '\t';
  text.back() = '\n';
  sink(text);
}

} // namespace mqbridge
