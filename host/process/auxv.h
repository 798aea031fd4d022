#pragma once

#include "host/memory/memory_map.h"
#include "host/memory/platform.h"
#include "rsp/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The auxiliary vector that the kernel gave the process (qXfer:auxv:read; /proc/PID/auxv). It also
/// shows the process's byte order and pointer size: only one reading of its bytes makes sense.
struct AuxiliaryVector {
  ByteOrder byte_order = ByteOrder::little;
  int pointer_size = 8;
  std::map<std::uint64_t, std::uint64_t> values; ///< by AT_* type

  std::optional<std::uint64_t> find(std::uint64_t type) const;
  /// As Platform::last_address().
  std::uint64_t last_address() const { return pointer_size == 4 ? 0xffffffff : ~std::uint64_t{0}; }

  /// Error auxv.corrupt: no reading has both a plausible AT_PAGESZ and the AT_PHENT of its word
  /// size.
  static Result<AuxiliaryVector> parse(std::string_view bytes);
};

/// The part of the stack that the auxiliary vector shows to be mapped: its top. Empty if it does
/// not tell.
std::vector<MappedRange> stack_of(const AuxiliaryVector& auxv);

} // namespace mqbridge
