#pragma once

#include "host/document/forms.h"
#include "host/document/json_parts.h"
#include "host/document/names.h"

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// A value of each form that a member may have, behind its key.

template <class T>
void write_value(JsonWriter& json, const T& value) {
  json.value(value);
}
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) void write_value(JsonWriter& json, const T& value) {
  json.value(std::uint64_t{value});
}
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) void write_value(JsonWriter& json, const std::optional<T>& value) {
  json.value(value ? std::optional<std::uint64_t>(*value) : std::nullopt);
}
void write_value(JsonWriter& json, const std::string& text, OrNull form);
void write_value(JsonWriter& json, const bool& flag, TrueOrNull form);
inline void write_value(JsonWriter& json, const bool& flag, FlagOrAbsent /*form*/) {
  json.value(flag);
}
template <class T>
void write_value(JsonWriter& json, const T& value, Present /*form*/) {
  write_value(json, value);
}
template <class T>
void write_value(JsonWriter& json, const T& value, PointerSize /*form*/) {
  write_value(json, value);
}
template <class T>
void write_value(JsonWriter& json, const T& value, Within /*form*/) {
  write_value(json, value);
}

void write_value(JsonWriter& json, const std::optional<std::uint64_t>& address, AsAddress form);
void write_value(JsonWriter& json, const TargetAddress& address);
void write_value(JsonWriter& json, const std::optional<TargetAddress>& address);
template <class T, T unknown>
void write_value(JsonWriter& json, const CompactOptional<T, unknown>& value) {
  write_value(json, std::optional<T>(value));
}
void write_value(JsonWriter& json, const std::vector<std::uint64_t>& addresses, AsAddress form);
void write_value(JsonWriter& json, const std::optional<std::vector<std::uint64_t>>& addresses,
                 AsAddress form);

/// Null where it is empty.
void write_word(JsonWriter& json, std::string_view word);
template <Worded E>
void write_value(JsonWriter& json, const E& value) {
  write_word(json, name_of(value));
}
template <Worded E>
void write_value(JsonWriter& json, const E& value, E /*otherwise*/) {
  write_word(json, name_of(value));
}
template <Worded E>
void write_value(JsonWriter& json, const std::optional<E>& value) {
  write_word(json, value ? name_of(*value) : std::string_view());
}
/// A list of words, or of numbers.
template <class Element>
void write_value(JsonWriter& json, const std::vector<Element>& elements) {
  json.begin_array(one_line);
  for (const Element element : elements)
    write_value(json, element);
  json.end();
}

/// The schema's `runs`.
inline void write_value(JsonWriter& json, const std::vector<Run>& runs) {
  write_runs(json, runs);
}
void write_value(JsonWriter& json, const std::vector<std::string>& lines,
                 JsonWriter::Layout layout);
void write_value(JsonWriter& json, const RankList& ranks);
void write_value(JsonWriter& json, const std::vector<std::optional<int>>& group);
void write_value(JsonWriter& json, const std::vector<std::int64_t>& ranks, PlacesInJob form);
void write_value(JsonWriter& json, const RepairList& repairs);
void write_value(JsonWriter& json, const TextLines& text);
void write_value(JsonWriter& json, const Delivery& delivery);
void write_value(JsonWriter& json, const std::int64_t& thread, AsText form);
void write_value(JsonWriter& json, const std::optional<VariableValue>& value);

/// Writes the members that describe() names for a value.
class MemberWriter {
public:
  MemberWriter(JsonWriter& json, RankMembers what) : json_(json), what_(what) {}

  /// Writes all members of a value into an object that was begun. describe() takes a reference that
  /// is not const, because it is used for reading, too; nothing changes the value here.
  template <class T>
  void write(const T& value) {
    describe(*this, const_cast<T&>(value));
  }

  template <class T, class... Form>
  void member(std::string_view key, const T& value, Form... form) {
    write_value(json_.key(key), value, form...);
  }
  template <class T>
  void member(std::string_view key, const std::optional<T>& value, IfKnown /*form*/) {
    if (value)
      member(key, value);
  }
  void member(std::string_view key, const std::string& text, OfWholeJob /*form*/) {
    member(key, what_.keys ? text : std::string(), or_null);
  }
  void member(std::string_view key, const ChunkedList<Operation>& operations);
  void member(std::string_view key, const Operation& operation, RawValues form);
  /// A member with the same value in each document.
  void constant(std::string_view key, std::string_view text) { json_.member(key, text); }
  void null(std::string_view key) { json_.member(key, nullptr); }

  /// An object; null where there is none.
  template <class T>
  void object(std::string_view key, const T& value, JsonWriter::Layout layout = own_lines) {
    if constexpr (may_be_none<T>) {
      if (!value)
        return null(key);
    }
    json_.key(key);
    element(value, layout);
  }
  template <class T>
  void object(std::string_view key, const std::optional<T>& value,
              JsonWriter::Layout layout = own_lines) {
    if (value)
      object(key, *value, layout);
    else
      null(key);
  }
  /// The same; absent where there is none.
  template <class T>
  void part(std::string_view key, const std::optional<T>& value) {
    if (value)
      object(key, *value);
  }
  /// The members of a value that has no object of its own; if it is not known, there are none.
  void members(const SharedSite& site);

  /// An array of objects.
  template <class T>
  void list(std::string_view key, const std::vector<T>& values,
            JsonWriter::Layout each = own_lines) {
    json_.key(key).begin_array();
    for (const T& value : values)
      element(value, each);
    json_.end();
  }
  template <class T>
  void list(std::string_view key, const std::optional<std::vector<T>>& values,
            JsonWriter::Layout each = own_lines) {
    if (values)
      list(key, *values, each);
    else
      null(key);
  }
  /// An object with a member for each value; null where there is none.
  template <class T>
  void by_name(std::string_view key, const std::map<std::string, T>& values) {
    if (values.empty())
      return null(key);
    json_.key(key).begin_object();
    for (const auto& [name, value] : values)
      object(name, value);
    json_.end();
  }
  /// A list; null where it is empty.
  template <class T>
  void list_or_null(std::string_view key, const std::vector<T>& values) {
    if (values.empty())
      return null(key);
    json_.key(key).begin_array(one_line);
    for (const T& value : values)
      element(value, one_line);
    json_.end();
  }
  /// A list; absent where it is empty.
  template <class T>
  void list_or_absent(std::string_view key, const std::vector<T>& values, JsonWriter::Layout each) {
    if (!values.empty())
      list(key, values, each);
  }

  /// Whether the value has the members that follow: if `condition` is true.
  bool has(bool condition) const { return condition; }
  bool has_statistics() const { return what_.statistics; }
  /// Members that were described as copies: only a reader puts them back.
  template <class Put>
  void put(const Put& /*back*/) {}
  /// Members that can be read only when all others are known.
  template <class Describe>
  void afterwards(const Describe& rest) {
    rest();
  }

private:
  template <class T>
  void element(const T& value, JsonWriter::Layout layout) {
    json_.begin_object(layout);
    write(value);
    json_.end();
  }

  JsonWriter& json_;
  RankMembers what_;
};

} // namespace mqbridge
