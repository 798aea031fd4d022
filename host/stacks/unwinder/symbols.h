#pragma once

#include "host/stacks/unwinder/modules.h"

#include <cstdint>
#include <elfutils/libdw.h>
#include <map>
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

/// Names, files and lines of addresses: from DWARF, and without it from symbol tables.
class Symbols {
public:
  explicit Symbols(Modules& modules) : modules_(modules) {}

  /// The calls that the code at `address` is in: the innermost first, then those that it was
  /// inlined into. One at least. Valid as long as this.
  const std::vector<Call>& calls_at(std::uint64_t address);

private:
  std::vector<Call> read(std::uint64_t address);
  std::vector<Call> from_dwarf(Dwfl_Module* module, std::uint64_t address);
  std::optional<Dwarf_Die> unit_at(Dwfl_Module* module, std::uint64_t address, Dwarf_Addr& bias);
  static void from_symbol_table(Dwfl_Module* module, std::uint64_t address, Call& call);

  Modules& modules_;
  std::map<std::uint64_t, std::vector<Call>> known_; ///< ranks' threads stand in the same places
};

} // namespace mqbridge::unwinder
