#pragma once

#include "host/document/forms.h"
#include "host/document/read_parts.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// The reverse of write_value(): reads the member `key` of an object. Texts and lists count towards
// the memory that the document may take.

void read_value(const Fields& fields, std::string_view key, bool& flag);
void read_value(const Fields& fields, std::string_view key, bool& flag, TrueOrNull form);
void read_value(const Fields& fields, std::string_view key, bool& flag, FlagOrAbsent form);
void read_value(const Fields& fields, std::string_view key, std::optional<bool>& flag);
void read_value(const Fields& fields, std::string_view key, double& number);
void read_value(const Fields& fields, std::string_view key, std::optional<double>& number);
void read_value(const Fields& fields, std::string_view key, std::uint64_t& count);
void read_value(const Fields& fields, std::string_view key, std::optional<std::uint64_t>& count);
void read_value(const Fields& fields, std::string_view key, int& size, PointerSize form);
void read_value(const Fields& fields, std::string_view key, std::int64_t& thread, AsText form);

void read_value(const Fields& fields, std::string_view key, std::string& text);
void read_value(const Fields& fields, std::string_view key, std::string& text, OrNull form);
void read_value(const Fields& fields, std::string_view key, std::optional<std::string>& text);
void read_value(const Fields& fields, std::string_view key, std::optional<std::string>& text,
                Present form);
void read_value(const Fields& fields, std::string_view key, SharedText& text);

void read_value(const Fields& fields, std::string_view key, TargetAddress& address);
void read_value(const Fields& fields, std::string_view key, std::optional<TargetAddress>& address);
void read_value(const Fields& fields, std::string_view key, std::uint64_t& address, AsAddress form);
void read_value(const Fields& fields, std::string_view key, std::optional<std::uint64_t>& address,
                AsAddress form);
void read_value(const Fields& fields, std::string_view key, std::vector<std::uint64_t>& addresses,
                AsAddress form);
void read_value(const Fields& fields, std::string_view key,
                std::optional<std::vector<std::uint64_t>>& addresses, AsAddress form);

/// Any number that its type can hold; `Within` narrows the range.
template <class T>
concept Number =
    std::same_as<T, int> || std::same_as<T, std::uint32_t> || std::same_as<T, std::int64_t>;

template <Number T>
constexpr Within all_of() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}
template <Number T>
void read_value(const Fields& fields, std::string_view key, T& number,
                Within within = all_of<T>()) {
  number = static_cast<T>(fields.integer(key, within.least, within.most));
}
template <Number T>
void read_value(const Fields& fields, std::string_view key, std::optional<T>& number,
                Within within = all_of<T>()) {
  const auto read = fields.maybe_integer(key, within.least, within.most);
  number = read ? std::optional(static_cast<T>(*read)) : std::nullopt;
}
template <class T, T unknown>
void read_value(const Fields& fields, std::string_view key, CompactOptional<T, unknown>& value,
                auto... form) {
  std::optional<T> read;
  read_value(fields, key, read, form...);
  value = read;
}

/// One of the enumeration's words, or null if the enumeration has it. Any other word, and an absent
/// member, is a complaint.
template <Worded E>
void read_value(const Fields& fields, std::string_view key, E& value) {
  constexpr E null = document_words<E>[0].value;
  value = name_of(null).empty() ? fields.word_or_null(key, null) : fields.word<E>(key);
}
template <Worded E>
void read_value(const Fields& fields, std::string_view key, E& value,
                std::type_identity_t<E> otherwise) {
  constexpr E null = document_words<E>[0].value;
  value = name_of(null).empty() && fields.is_null(key) ? null : fields.word_or(key, otherwise);
}
/// nullopt: null, absent, or a word of a later version.
template <Worded E>
void read_value(const Fields& fields, std::string_view key, std::optional<E>& value) {
  const auto name = fields.maybe_text(key);
  value = name ? value_named<E>(*name) : std::nullopt;
}
/// Words of a later version are left out: this version does not know their meaning.
template <Worded E>
void read_value(const Fields& fields, std::string_view key, std::vector<E>& values) {
  constexpr std::size_t most = 64;
  for (const auto& word : fields.texts(key, most))
    if (const auto value = value_named<E>(word))
      values.push_back(*value);
}
void read_value(const Fields& fields, std::string_view key, std::vector<int>& numbers);
void read_value(const Fields& fields, std::string_view key, std::vector<bool>& flags);
/// Indexes into lists that are read later: whoever uses them must check them.
void read_value(const Fields& fields, std::string_view key, std::vector<std::size_t>& indexes);

void read_value(const Fields& fields, std::string_view key, RankList& ranks);
void read_value(const Fields& fields, std::string_view key, std::vector<std::optional<int>>& group);
void read_value(const Fields& fields, std::string_view key, std::vector<std::int64_t>& ranks,
                PlacesInJob form);
void read_value(const Fields& fields, std::string_view key, RepairList& repairs);
void read_value(const Fields& fields, std::string_view key, TextLines& text);
void read_value(const Fields& fields, std::string_view key, Delivery& delivery);
void read_value(const Fields& fields, std::string_view key, std::optional<VariableValue>& value);

/// Reads the members that describe() names for a value: the reverse of MemberWriter. An absent
/// member reads as null, or is a complaint if null is one.
class MemberReader {
public:
  struct What {
    const TakeOperations* take = nullptr; ///< of values that have queues
    bool statistics = true;               ///< of a rank
  };

  MemberReader(const Fields& fields, What what) : fields_(fields), what_(what) {}

  /// All members of a value.
  template <class T>
  void read(T& value) {
    describe(*this, value);
    if (rest_)
      rest_();
  }

  template <class T, class... Form>
  void member(std::string_view key, T& value, Form... form) {
    read_value(fields_, key, value, form...);
  }
  template <class T>
  void member(std::string_view key, std::optional<T>& value, IfKnown /*form*/) {
    read_value(fields_, key, value);
  }
  void member(std::string_view key, std::string& text, OfWholeJob /*form*/) {
    read_value(fields_, key, text, or_null);
  }
  void member(std::string_view key, ChunkedList<Operation>& operations);
  void member(std::string_view key, Operation& operation, RawValues form);
  void constant(std::string_view /*key*/, std::string_view /*text*/) {}
  void null(std::string_view /*key*/) {}

  template <class T>
  void object(std::string_view key, T& value, JsonWriter::Layout /*layout*/ = own_lines) {
    if constexpr (may_be_none<T>) {
      if (fields_.is_null(key))
        return;
    }
    MemberReader(Fields(fields_, key), what_).read(value);
  }
  template <class T>
  void object(std::string_view key, std::optional<T>& value,
              JsonWriter::Layout /*layout*/ = own_lines) {
    if (!fields_.is_null(key))
      object(key, value.emplace());
  }
  template <class T>
  void part(std::string_view key, std::optional<T>& value) {
    object(key, value);
  }
  void members(SharedSite& site);

  template <class T>
  void list(std::string_view key, std::vector<T>& values, JsonWriter::Layout /*each*/ = own_lines) {
    each(key, &values, sizeof(T), [](MemberReader element, void* list) {
      element.read(static_cast<std::vector<T>*>(list)->emplace_back());
    });
  }
  template <class T>
  void list(std::string_view key, std::optional<std::vector<T>>& values,
            JsonWriter::Layout each = own_lines) {
    if (!fields_.is_null(key))
      list(key, values.emplace(), each);
  }
  template <class T>
  void list_or_null(std::string_view key, std::vector<T>& values) {
    if (!fields_.is_null(key))
      list(key, values);
  }
  template <class T>
  void list_or_absent(std::string_view key, std::vector<T>& values, JsonWriter::Layout /*each*/) {
    list_or_null(key, values);
  }

  bool has(bool condition) const { return condition; }
  bool has_statistics() const { return what_.statistics; }
  template <class Put>
  void put(const Put& back) {
    back();
  }
  void afterwards(std::function<void()> rest) { rest_ = std::move(rest); }

private:
  /// Adds what each element reads to a list of elements of `size` bytes. It is no template because
  /// there are twenty kinds of lists.
  void each(std::string_view key, void* list, std::size_t size,
            void (*add)(MemberReader element, void* list));

  const Fields& fields_;
  What what_;
  std::function<void()> rest_;
};

} // namespace mqbridge
