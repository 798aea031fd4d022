#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace mqbridge {

/// A std::optional<T> in the size of a T: the value `unknown`, which no DLL reports, stands for
/// nullopt. An Operation has twelve of them. With std::optional it would have 96 bytes more, which
/// makes the dump of a million operations 9% larger in memory.
template <class T, T unknown>
class CompactOptional {
public:
  constexpr CompactOptional() = default;
  constexpr CompactOptional(std::nullopt_t) {}
  constexpr CompactOptional(T value) : value_(value) {}
  constexpr CompactOptional(const std::optional<T>& value) : value_(value.value_or(unknown)) {}

  constexpr operator std::optional<T>() const {
    return has_value() ? std::optional<T>(value_) : std::nullopt;
  }
  constexpr bool has_value() const { return value_ != unknown; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const T& operator*() const { return value_; }
  constexpr const T* operator->() const { return &value_; }
  constexpr T value_or(T otherwise) const { return has_value() ? value_ : otherwise; }
  constexpr void reset() { value_ = unknown; }

  friend constexpr bool operator==(const CompactOptional&, const CompactOptional&) = default;
  friend constexpr bool operator==(const CompactOptional& one, const std::optional<T>& other) {
    return one == CompactOptional(other);
  }
  friend constexpr bool operator==(const CompactOptional& one, const T& other) {
    return one == CompactOptional(other);
  }
  friend constexpr bool operator==(const CompactOptional& one, std::nullopt_t) {
    return !one.has_value();
  }

private:
  T value_ = unknown;
};

/// No rank, tag or length is the most negative number. If a DLL reports that number, the value
/// counts as not known; RawOperation keeps the DLL's number.
using MaybeInt = CompactOptional<std::int64_t, std::numeric_limits<std::int64_t>::min()>;

} // namespace mqbridge
