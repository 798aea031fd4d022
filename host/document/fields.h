#pragma once

#include "host/document/names.h"
#include "host/document/read_state.h"
#include "host/memory/address.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The range of an `int` of MPI.
inline constexpr std::int64_t least_int = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t most_int = std::numeric_limits<std::int32_t>::max();

/// The integer; nullopt: the value is none, or does not fit into 64 bits with a sign.
std::optional<std::int64_t> integer_of(const nlohmann::json& value);

/// The members of one object of a document. A member that is missing, or has another form than
/// expected, is a complaint, and its value must not be used. Members that nobody asks for are
/// ignored. maybe_...: null and absent are nullopt.
class Fields {
public:
  Fields(const nlohmann::json& object, const Place& place, ReadState& state);
  /// The object that is a member of another one.
  Fields(const Fields& outer, std::string_view key);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  ReadState& state() const { return state_; }
  const Place& place() const { return place_; }
  Place place_of(std::string_view key) const { return {&place_, key}; }
  void complain(std::string_view key, std::string_view expected) const {
    state_.complain(place_of(key), expected);
  }

  bool is_null(std::string_view key) const; ///< or absent
  bool flag(std::string_view key) const;
  std::optional<bool> maybe_flag(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::optional<std::string> maybe_text(std::string_view key) const;
  std::string text_or_empty(std::string_view key) const { return maybe_text(key).value_or(""); }
  std::int64_t integer(std::string_view key,
                       std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  std::optional<std::int64_t>
  maybe_integer(std::string_view key, std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  std::uint64_t count(std::string_view key) const;
  std::optional<std::uint64_t> maybe_count(std::string_view key) const;
  double number(std::string_view key) const;
  std::optional<double> maybe_number(std::string_view key) const;
  TargetAddress address(std::string_view key) const;
  std::optional<TargetAddress> maybe_address(std::string_view key) const;

  /// A word that this program must know: E has no value for an unknown word.
  template <class E>
  E word(std::string_view key) const {
    const auto value = value_named<E>(text(key));
    if (!value)
      complain(key, "a word that this version knows");
    return value.value_or(E{});
  }
  /// The same; null stands for `null`.
  template <class E>
  E word_or_null(std::string_view key, E null) const {
    if (const auto* const content = required(key); content == nullptr || is_null(key))
      return null;
    return word<E>(key);
  }
  /// `unknown` where it is null, absent, or a word that this version does not know.
  template <class E>
  E word_or(std::string_view key, E unknown) const {
    const auto name = maybe_text(key);
    return name ? value_named<E>(*name).value_or(unknown) : unknown;
  }

  /// The elements of an array, one after the other.
  void
  each(std::string_view key,
       const std::function<void(const nlohmann::json& element, const Place& place)>& use) const;
  std::vector<std::string> texts(std::string_view key, std::size_t most) const;

  /// Null if it is absent. For members with a form of their own.
  const nlohmann::json* find(std::string_view key) const;
  /// The same, but an absent member is a complaint.
  const nlohmann::json* required(std::string_view key) const;

private:
  ReadState& state_;
  Place place_;
  const nlohmann::json* object_; ///< null: it is no object, which was a complaint
};

} // namespace mqbridge
