#pragma once

#include "host/document/sink.h"
#include "host/dump/values/document.h"
#include "host/report/fitted_text.h"

#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// One of `titles`, given by its name: another name does not compile.
template <const auto& titles>
class TsvColumn {
public:
  consteval TsvColumn(const char* title) {
    while (titles.at(place_) != title)
      ++place_;
  }
  std::size_t place() const { return place_; }

private:
  std::size_t place_ = 0;
};

/// A line of a TSV table. `titles` are the columns in their order; among them kind, rank, pid,
/// host, endpoint, reason, message and hint. A column that is not set is empty.
template <const auto& titles>
class TsvLine {
public:
  using Column = TsvColumn<titles>;

  explicit TsvLine(std::string_view kind) { set("kind", kind); }
  TsvLine(std::string_view kind, const RankDump& rank) : TsvLine(kind) {
    set_number("rank", rank.rank);
    set_number("pid", rank.pid);
    set("host", rank.host.value_or(""));
    set("endpoint", rank.endpoint);
  }

  void set(Column column, std::string_view text) { set_at(column.place(), text); }
  /// `place` is less than the number of titles.
  void set_at(std::size_t place, std::string_view text) { cells_[place] = tsv_escaped(text); }
  template <class T>
  void set_number(Column column, T number) {
    cells_[column.place()] = fmt::format("{}", number);
  }
  template <class T>
  void set_number(Column column, const std::optional<T>& number) {
    if (number)
      set_number(column, *number);
  }
  void set_flag(Column column, const std::optional<bool>& flag) {
    if (flag)
      set(column, *flag ? "true" : "false");
  }
  void set_address(Column column, const std::optional<std::uint64_t>& address) {
    if (address)
      cells_[column.place()] = fmt::format("{:#x}", *address);
  }

  void write(const Sink& sink) const {
    std::string text;
    for (const std::string& cell : cells_)
      text += cell + '\t';
    text.back() = '\n';
    sink(text);
  }
  void write_error(const RankError& error, const Sink& sink) {
    set("reason", error.code);
    set("message", error.message);
    set("hint", error.hint);
    write(sink);
  }

private:
  std::vector<std::string> cells_ = std::vector<std::string>(titles.size());
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
