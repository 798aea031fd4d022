#pragma once

#include "host/stacks/unwinder/modules.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::unwinder {

using Call = NamedCall;

/// The calls in which the instruction at `address` is: the innermost first, then the functions into
/// which it was inlined. At least one. From DWARF, and without it from symbol tables.
std::vector<Call> calls_at(Modules& modules, std::uint64_t address);

} // namespace mqbridge::unwinder
