#pragma once

#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::unwinder {

/// A function's code, or the copy of it that was inlined.
struct Scope {
  Dwarf_Die die;
  std::optional<std::string> name;
};

/// The functions of a unit whose code is at `address` of its file: the innermost first, then the
/// functions into which it was inlined. Empty: the unit has none there.
std::vector<Scope> scopes_at(Dwarf_Die& unit, std::uint64_t address);

} // namespace mqbridge::unwinder
