#pragma once

#include "host/document/forms.h"
#include "host/document/names.h"
#include "host/report/tsv_line.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// A member whose column has another name. `member` is written as TsvMembers writes names.
struct TsvRename {
  std::string_view member;
  std::string_view column; ///< empty: it has none, although a column has its name
};

/// Sets the columns of a line that are named like the members that describe() names for a value.
/// The members of an object have its name before theirs: `unit` of `length` is length_unit, and
/// `value` of it is length. Members without a column are left out, and so are lists and other
/// values that are no single cell: a line sets their columns itself.
template <const auto& titles>
class TsvMembers {
public:
  TsvMembers(TsvLine<titles>& line, std::span<const TsvRename> renames)
      : line_(line), renames_(renames) {}

  /// describe() takes a reference that is not const, because it is used for reading, too.
  template <class T>
  void set(const T& value) {
    describe(*this, const_cast<T&>(value));
  }

  template <class T, class... Form>
  void member(std::string_view key, const T& value, Form... /*form*/) {
    if constexpr (requires { text_of(value); })
      if (const auto place = column(key))
        line_.set_at(*place, text_of(value));
  }
  template <class T>
  void member(std::string_view key, const T& address, AsAddress /*form*/) {
    if constexpr (requires { address_text(address); })
      if (const auto place = column(key))
        line_.set_at(*place, address_text(address));
  }
  void member(std::string_view key, const bool& flag, TrueOrNull /*form*/) {
    if (const auto place = column(key); place && flag)
      line_.set_at(*place, "true");
  }
  void constant(std::string_view /*key*/, std::string_view /*text*/) {}
  void null(std::string_view /*key*/) {}

  template <class T>
  void object(std::string_view key, const T& value, JsonWriter::Layout /*layout*/ = own_lines) {
    if constexpr (may_be_none<T>)
      if (!value)
        return;
    const auto length = prefix_.size();
    (prefix_ += key) += '_';
    set(value);
    prefix_.resize(length);
  }
  template <class T>
  void object(std::string_view key, const std::optional<T>& value,
              JsonWriter::Layout layout = own_lines) {
    if (value)
      object(key, *value, layout);
  }
  void part(std::string_view key, const auto& value) { object(key, value); }
  void members(const SharedSite& site) {
    if (site)
      set(*site);
  }
  void list(std::string_view /*key*/, const auto& /*values*/, auto... /*each*/) {}

  bool has(bool condition) const { return condition; }
  void put(const auto& /*back*/) {}
  void afterwards(const auto& rest) { rest(); }

private:
  std::optional<std::size_t> column(std::string_view key) {
    const auto length = prefix_.size();
    if (key == "value" && length != 0)
      prefix_.pop_back();
    else
      prefix_ += key;
    std::string_view name = prefix_;
    const auto renamed = std::ranges::find(renames_, name, &TsvRename::member);
    if (renamed != renames_.end())
      name = renamed->column;
    const auto found = std::ranges::find(titles, name);
    prefix_.resize(length, '_');
    if (found == titles.end())
      return std::nullopt;
    return static_cast<std::size_t>(found - titles.begin());
  }

  static std::string text_of(std::string_view text) { return std::string(text); }
  static std::string text_of(const SharedText& text) { return text ? *text : std::string(); }
  static std::string text_of(bool flag) { return flag ? "true" : "false"; }
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  static std::string text_of(T number) { return fmt::format("{}", number); }
  static std::string text_of(TargetAddress address) { return address_text(address.value); }
  template <Worded E>
  static std::string text_of(E value) {
    return std::string(name_of(value));
  }
  static std::string text_of(Delivery delivery) {
    return delivery == Delivery::not_known ? "" : text_of(delivery == Delivery::delivered);
  }
  static std::string text_of(const RepairList& repairs) {
    std::string text;
    for (const Repair repair : repairs)
      (text += text.empty() ? "" : ",") += name_of(repair);
    return text;
  }
  template <class T>
  requires requires(T value) { text_of(value); }
  static std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : std::string();
  }
  template <class T, T unknown>
  static std::string text_of(const CompactOptional<T, unknown>& value) {
    return value ? text_of(*value) : std::string();
  }

  static std::string address_text(std::uint64_t address) { return fmt::format("{:#x}", address); }
  static std::string address_text(const std::optional<std::uint64_t>& address) {
    return address ? address_text(*address) : std::string();
  }

  TsvLine<titles>& line_;
  std::span<const TsvRename> renames_;
  std::string prefix_; ///< of the members of the object that is described: "length_"
};

} // namespace mqbridge
