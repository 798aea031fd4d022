#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace mqbridge {

/// A correction of an operation: see repairs.h.
enum class Repair : std::uint8_t {
  sign_extension,
  send_rank,
  global_rank,
  local_rank,
  status,
  length,
  actual_length,
  buffer,
  text, ///< lines of extra_text are left out; the last: RepairList has room up to it
};

/// Repairs of one operation in the order in which they were made, each of them once.
class RepairList {
public:
  using value_type = Repair;
  using const_iterator = const Repair*;
  using iterator = const_iterator;

  RepairList() = default;
  RepairList(std::initializer_list<Repair> repairs) {
    for (const Repair repair : repairs)
      add(repair);
  }

  /// Does nothing if the repair is there already.
  void add(Repair repair) {
    if (!contains(repair))
      made_[count_++] = repair;
  }
  void remove(Repair repair) {
    const auto last = std::remove(made_.begin(), made_.begin() + count_, repair);
    count_ = static_cast<std::uint8_t>(last - made_.begin());
  }
  bool contains(Repair repair) const { return std::find(begin(), end(), repair) != end(); }
  bool empty() const { return count_ == 0; }
  const_iterator begin() const { return made_.data(); }
  const_iterator end() const { return made_.data() + count_; }

private:
  std::array<Repair, static_cast<std::size_t>(Repair::text) + 1> made_{}; ///< room for each
  std::uint8_t count_ = 0;
};

} // namespace mqbridge
