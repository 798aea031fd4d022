#pragma once

#include "host/mpi/recorder/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge::recorder {

/// Most entries of a table of communicators: a larger number is garbage.
inline constexpr std::size_t most_communicators = 1 << 18;

/// Pieces of memory of any size, requested one by one and read together.
class Tables {
public:
  /// Most bytes in all. Further pieces, in garbage or in a giant process, are not read.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  explicit Tables(const AddressSpace& space) : space_(space) {}

  /// Address 0 and pieces without bytes are not read.
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

  /// The piece that was requested as number `index`. nullopt: it could not be read.
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
