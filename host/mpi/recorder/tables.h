#pragma once

#include "host/mpi/recorder/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge::recorder {

/// Pieces of memory of any sizes, wanted one by one and read together.
class Tables {
public:
  /// Of all together. What comes beyond, by garbage or in a giant of a process, is not read.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  explicit Tables(const AddressSpace& space) : space_(space) {}

  /// Nothing is read at address 0, and where there are no bytes.
  void want(std::uint64_t address, std::size_t size) {
    const bool is_there = address != 0 && size > 0 && size <= most_bytes - bytes_.size();
    wanted_.push_back({{address}, bytes_.size(), is_there ? size : 0});
    bytes_.resize(bytes_.size() + wanted_.back().size);
  }

  /// Errors: those of Memory.
  Result<void> read() {
    std::vector<MemoryRange> ranges;
    for (const auto& each : wanted_)
      if (each.size > 0)
        ranges.push_back({each.address, std::span(bytes_).subspan(each.at, each.size)});
    if (auto done = space_.memory.read_ranges(ranges); !done)
      return done;
    auto range = ranges.begin();
    for (auto& each : wanted_)
      if (each.size > 0 && (range++)->read < each.size)
        each.size = 0;
    return {};
  }

  /// What was wanted at this place of the order. nullopt: it could not be read.
  std::optional<Record> at(std::size_t index) const {
    const auto& each = wanted_.at(index);
    if (each.size == 0)
      return std::nullopt;
    return Record(std::span(bytes_).subspan(each.at, each.size), space_.platform.byte_order);
  }

private:
  struct Wanted {
    TargetAddress address;
    std::size_t at;   ///< in bytes_
    std::size_t size; ///< 0: not there
  };

  const AddressSpace& space_;
  std::vector<Wanted> wanted_;
  std::vector<std::byte> bytes_;
};

} // namespace mqbridge::recorder
