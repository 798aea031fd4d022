#pragma once

#include "host/types/indexer/dwarf_parts.h"
#include "host/types/type_names.h"

#include <optional>
#include <set>
#include <vector>

namespace mqbridge {

/// The kind under which a DIE of that tag is listed; nullopt: it is no type with a name.
std::optional<NameKind> name_kind_of(Dwarf_Half tag);

/// The DIE at `place`, if it is a type of that kind and name; else empty: two names may have one
/// hash.
DwarfDie named_type(DwarfParts& parts, TypePlace place, NameKind kind, std::string_view name);

/// Lists the types at the top of each unit of one DwarfParts. Declarations are not listed.
class NameCollector {
public:
  /// `parts` outlives this.
  explicit NameCollector(DwarfParts& parts) : parts_(parts) {}

  /// Reads every unit once, and with it the units of the alternate file that it imports. A fault
  /// ends it early. Sorted by name, then in file order; each name at most as often as in a
  /// TypeNames.
  std::vector<NamedPlace> collect();

private:
  void add_unit(const DwarfDie& unit);
  void add(const DwarfDie& die);
  void sort();

  DwarfParts& parts_;
  std::set<DiePlace> imported_;       // met so far
  std::vector<DiePlace> to_be_added_; // of those, not read yet
  std::vector<NamedPlace> places_;
  std::size_t sorted_ = 0; // places at the last sort
};

} // namespace mqbridge
