#pragma once

#include "host/image/dwarf_parts.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What a name names: C keeps tags apart from typedefs, and `struct X` from nothing but its
/// spelling.
enum class NameKind : std::uint8_t { type_definition, structure, union_, enumeration, base };

/// What a DIE of that tag would be listed as; nullopt: it is no type with a name.
std::optional<NameKind> name_kind_of(Dwarf_Half tag);

/// Names of the types at the top of each unit of one DwarfParts. Declarations are not listed. Holds
/// hashes, not names: it is small enough to be read at once, and what it finds is compared with the
/// name in the DWARF.
class DwarfIndex {
public:
  /// Reads every unit once, those of the alternate file that are imported with them. A fault ends
  /// it early; what was read stays. `parts` outlives this.
  void build(DwarfParts& parts);

  /// Candidates in file order: several units may define one name. Empty: none.
  std::vector<DiePlace> find(NameKind kind, std::string_view name) const;

  /// For a record of this host. nullopt: it lists places in split files, which are looked for by
  /// each run.
  std::optional<std::vector<std::byte>> to_bytes() const;
  /// nullopt: they are not what to_bytes() gave for such parts.
  static std::optional<DwarfIndex> from_bytes(std::span<const std::byte> bytes, DwarfParts& parts);

private:
  /// A name, and a place packed into 64 bits: the offset, whether it is in .debug_info, which file.
  struct Entry {
    std::uint64_t name = 0;
    std::uint64_t place = 0;
  };

  void add_unit(const DwarfDie& unit, DwarfFile& main);
  void add(const DwarfDie& die);
  void add(NameKind kind, std::string_view name, const DiePlace& place);
  void sort();
  std::uint64_t number_of(DwarfFile* file);
  DiePlace unpack(std::uint64_t place) const;

  std::chrono::steady_clock::time_point deadline_;
  std::set<DiePlace> imported_;       // met so far
  std::vector<DiePlace> to_be_added_; // of those, not read yet
  std::vector<DwarfFile*> files_;     // the main file, the alternate one (may be null), split ones
  std::vector<Entry> entries_;        // once built: by name, then in file order
  std::size_t sorted_ = 0;            // entries at the last sort
};

} // namespace mqbridge
