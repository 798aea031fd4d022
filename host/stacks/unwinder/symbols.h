#pragma once

#include "host/stacks/unwinder/modules.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::unwinder {

/// One call that an address is in.
struct Call {
  std::optional<std::string> function = {};
  std::optional<std::uint64_t> begins_at = {}; ///< of the function, in the process
  std::optional<std::string> file = {};
  std::optional<std::int64_t> line = {};
  bool inlined = false;
};

/// The calls that the instruction at `address` is in: the innermost first, then those that it was
/// inlined into. One at least. From DWARF, and without it from symbol tables.
std::vector<Call> calls_at(Modules& modules, std::uint64_t address);

} // namespace mqbridge::unwinder
