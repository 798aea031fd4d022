#pragma once

#include "host/document/rank_members.h"
#include "host/mpi/variables.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::test {

/// Fills a value with whatever its description allows (host/document/forms.h). A new member is
/// filled as soon as it is described. `Input` has number(size), an integer of so many bytes, which
/// is 0 once it has ended: then lists are empty.
template <class Input>
class MemberFiller {
public:
  explicit MemberFiller(Input& input) : input_(input) {}

  template <class T>
  void fill(T& value) {
    MemberFiller own(input_);
    describe(own, value);
    if (own.rest_)
      own.rest_();
  }

  template <class T>
  void member(std::string_view /*key*/, T& value, auto... form) {
    set(value, form...);
  }
  /// Without a difference from the operation's own values, which reading would make of it.
  void member(std::string_view /*key*/, Operation& operation, RawValues /*form*/) {
    if (operation.source == OpSource::dll)
      operation.raw = {.desired_local_rank = int_value(),
                       .desired_global_rank = int_value(),
                       .desired_tag = int_value(),
                       .desired_length = int_value(),
                       .buffer = input_.number(8),
                       .actual_local_rank = int_value(),
                       .actual_global_rank = int_value(),
                       .actual_tag = int_value(),
                       .actual_length = int_value(),
                       .status = int_value(),
                       .tag_wild = int_value(),
                       .system_buffer = int_value()};
  }
  void member(std::string_view /*key*/, ChunkedList<Operation>& operations) {
    for (auto left = few(); left != 0; --left) {
      Operation operation;
      fill(operation);
      operations.push_back(std::move(operation));
    }
  }
  void constant(std::string_view /*key*/, std::string_view /*text*/) {}
  void null(std::string_view /*key*/) {}

  template <class T>
  void object(std::string_view /*key*/, T& value, JsonWriter::Layout /*layout*/ = own_lines) {
    if constexpr (may_be_none<T>)
      if (!flag())
        return;
    fill(value);
  }
  template <class T>
  void object(std::string_view key, std::optional<T>& value,
              JsonWriter::Layout /*layout*/ = own_lines) {
    if (flag())
      object(key, value.emplace());
  }
  template <class T>
  void part(std::string_view key, std::optional<T>& value) {
    object(key, value);
  }
  void members(SharedSite& site) {
    if (!flag())
      return;
    CallSite filled;
    fill(filled);
    site = std::make_shared<CallSite>(std::move(filled));
  }
  template <class T>
  void list(std::string_view /*key*/, std::vector<T>& values,
            JsonWriter::Layout /*each*/ = own_lines) {
    for (auto left = few(); left != 0; --left)
      fill(values.emplace_back());
  }
  template <class T>
  void list(std::string_view key, std::optional<std::vector<T>>& values,
            JsonWriter::Layout each = own_lines) {
    if (flag())
      list(key, values.emplace(), each);
  }
  template <class T>
  void list_or_null(std::string_view key, std::vector<T>& values) {
    list(key, values);
  }
  template <class T>
  void list_or_absent(std::string_view key, std::vector<T>& values, JsonWriter::Layout each) {
    list(key, values, each);
  }

  bool has(bool condition) const { return condition; }
  bool has_statistics() const { return true; }
  void put(const auto& back) { back(); }
  void afterwards(std::function<void()> rest) { rest_ = std::move(rest); }

private:
  bool flag() { return input_.number(1) % 2 == 1; }
  std::size_t few() { return input_.number(1) % 4; }
  int int_value() { return static_cast<int>(static_cast<std::int32_t>(input_.number(4))); }

  void set(bool& value, auto... /*form*/) { value = flag(); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void set(T& number, auto... /*form*/) {
    number = static_cast<T>(input_.number(sizeof(T)));
  }
  void set(int& size, PointerSize /*form*/) { size = flag() ? 4 : 8; }
  template <std::integral T>
  void set(T& number, Within within) {
    const auto range =
        static_cast<std::uint64_t>(within.most) - static_cast<std::uint64_t>(within.least);
    const auto drawn = input_.number(8);
    const auto step =
        range == std::numeric_limits<std::uint64_t>::max() ? drawn : drawn % (range + 1);
    number = static_cast<T>(static_cast<std::uint64_t>(within.least) + step);
  }
  void set(double& number) { number = static_cast<double>(int_value()) / 8; }
  /// Two bytes for each of the few letters, every kind of them that JSON escapes among them.
  void set(std::string& text, auto... /*form*/) {
    static constexpr std::string_view letters[] = {"a",    "\"",       "\\", "\n",
                                                   "\x01", "\xc3\xbc", "/",  " "};
    for (auto left = few(); left != 0; --left)
      text += letters[input_.number(1) % std::size(letters)];
  }
  void set(SharedText& text) {
    if (std::string filled; flag()) {
      set(filled);
      text = std::make_shared<const std::string>(std::move(filled));
    }
  }
  void set(TargetAddress& address) { address.value = input_.number(8); }
  template <Worded E>
  void set(E& value, auto... /*otherwise*/) {
    value = document_words<E>[input_.number(1) % document_words<E>.size()].value;
  }
  void set(Delivery& delivery) { delivery = static_cast<Delivery>(input_.number(1) % 3); }
  void set(RepairList& repairs) {
    for (auto left = few(); left != 0; --left) {
      Repair repair{};
      set(repair);
      repairs.add(repair);
    }
  }
  void set(TextLines& text) { text = {"Receive: 0x5590a1c0", "Data: 16 * MPI_BYTE"}; }
  void set(RankList& ranks) {
    if (std::vector<std::int64_t> filled; flag()) {
      set(filled);
      ranks = filled;
    }
  }
  void set(std::vector<std::int64_t>& ranks, PlacesInJob /*form*/) {
    for (auto left = few(); left != 0; --left)
      ranks.push_back(static_cast<std::int64_t>(input_.number(4)) - 1);
  }
  /// An empty group is not known, and a rank of one is none below 0.
  void set(std::vector<std::optional<int>>& group) {
    for (auto left = few(); left != 0; --left)
      group.push_back(flag() ? std::optional(static_cast<int>(input_.number(3))) : std::nullopt);
  }
  /// Indexes.
  void set(std::vector<std::size_t>& indexes) {
    for (auto left = few(); left != 0; --left)
      indexes.push_back(input_.number(4));
  }
  void set(std::optional<VariableValue>& value) {
    if (std::string text; flag()) {
      set(text);
      value = text;
    }
  }
  template <class T>
  void set(std::vector<T>& elements, auto... form) {
    for (auto left = few(); left != 0; --left) {
      T element{};
      set(element, form...);
      elements.push_back(element);
    }
  }
  template <class T>
  void set(std::optional<T>& value, auto... form) {
    if (flag())
      set(value.emplace(), form...);
  }
  template <class T, T unknown>
  void set(CompactOptional<T, unknown>& value, auto... form) {
    T filled{};
    set(filled, form...);
    if (flag())
      value = filled;
  }

  Input& input_;
  std::function<void()> rest_;
};

/// A document whose ranks are filled.
template <class Input>
Dump filled_dump(Input& input) {
  Dump dump;
  for (auto left = 1 + input.number(1) % 2; left != 0; --left)
    MemberFiller(input).fill(dump.ranks.emplace_back());
  return dump;
}

} // namespace mqbridge::test
