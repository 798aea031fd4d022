#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace mqbridge {

/// What was corrected of an operation: see repairs.h.
enum class Repair : std::uint8_t {
  sign_extension,
  send_rank,
  global_rank,
  local_rank,
  status,
  length,
  actual_length,
  buffer,
  text, ///< lines of extra_text are left out
};

/// Repairs of one operation in the order in which they were made, each of them once, in four bytes.
class RepairList {
public:
  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Repair;
    using difference_type = std::ptrdiff_t;
    using pointer = const Repair*;
    using reference = Repair;

    explicit Iterator(std::uint32_t rest) : rest_(rest) {}
    Repair operator*() const { return static_cast<Repair>((rest_ & mask) - 1); }
    Iterator& operator++() {
      rest_ >>= bits;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

  private:
    std::uint32_t rest_;
  };
  using value_type = Repair;
  using iterator = Iterator;
  using const_iterator = Iterator;

  RepairList() = default;
  RepairList(std::initializer_list<Repair> repairs) {
    for (const Repair repair : repairs)
      add(repair);
  }

  /// Does nothing if it is there. No MPI needs more than seven of them; there is room for eight.
  void add(Repair repair) {
    if (contains(repair))
      return;
    int shift = 0;
    while (shift < all_bits && (packed_ >> shift & mask) != 0)
      shift += bits;
    assert(shift < all_bits);
    if (shift < all_bits)
      packed_ |= (static_cast<std::uint32_t>(repair) + 1) << shift;
  }
  void remove(Repair repair) {
    RepairList others;
    for (const Repair each : *this)
      if (each != repair)
        others.add(each);
    *this = others;
  }
  bool contains(Repair repair) const {
    for (const Repair each : *this)
      if (each == repair)
        return true;
    return false;
  }
  bool empty() const { return packed_ == 0; }
  Iterator begin() const { return Iterator(packed_); }
  Iterator end() const { return Iterator(0); }

private:
  static constexpr int bits = 4;
  static constexpr int all_bits = 32;
  static constexpr std::uint32_t mask = 0xf;

  std::uint32_t packed_ =
      0; ///< the first in the lowest bits, each one more than its number; 0: no more
};

} // namespace mqbridge
