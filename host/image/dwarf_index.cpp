#include "host/image/dwarf_index.h"

#include <dwarf.h>
#include <optional>

namespace mqbridge {
namespace {

// libdwarf can be slow on corrupt input: an index is given up rather than waited for.
constexpr std::chrono::seconds time_budget{20};

// A header's types are in every unit that includes it: a few candidates are enough to find a
// complete one.
constexpr std::size_t candidates_per_name = 16;

std::optional<NameKind> kind_of(Dwarf_Half tag) {
  switch (tag) {
  case DW_TAG_typedef:
    return NameKind::type_definition;
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
    return NameKind::structure;
  case DW_TAG_union_type:
    return NameKind::union_;
  case DW_TAG_enumeration_type:
    return NameKind::enumeration;
  case DW_TAG_base_type:
    return NameKind::base;
  default:
    return std::nullopt;
  }
}

} // namespace

void DwarfIndex::build(DwarfParts& parts) {
  deadline_ = std::chrono::steady_clock::now() + time_budget;
  auto& main = parts.main();
  parts.for_each_unit([&](const DwarfUnit& unit) { add_unit(unit.die, main); });
  while (!to_be_added_.empty() && !main.faulty()) {
    const auto place = to_be_added_.back();
    to_be_added_.pop_back();
    add_unit(place.file->die_at(place), main);
  }
}

void DwarfIndex::add_unit(const DwarfDie& unit, DwarfFile& main) {
  for (auto die = unit.child(); die; die = die.sibling()) {
    if (die.tag() == DW_TAG_imported_unit) {
      // Those of the file itself are visited anyway.
      const auto place = die.reference(DW_AT_import).place();
      if (place.file != nullptr && place.file != &main && imported_.insert(place).second)
        to_be_added_.push_back(place);
    } else {
      add(die);
    }
    if (main.faulty())
      return;
    if (std::chrono::steady_clock::now() < deadline_)
      continue;
    main.set_fault("indexing its types took more than 20 seconds");
    return;
  }
}

void DwarfIndex::add(const DwarfDie& die) {
  const auto kind = kind_of(die.tag());
  if (!kind)
    return;
  const auto name = die.name();
  if (name.empty() || die.flag(DW_AT_declaration))
    return;
  auto& places = places_[{*kind, name}];
  if (places.size() < candidates_per_name)
    places.push_back(die.place());
}

const std::vector<DiePlace>& DwarfIndex::find(NameKind kind, std::string_view name) const {
  static const std::vector<DiePlace> none;
  const auto found = places_.find({kind, name});
  return found == places_.end() ? none : found->second;
}

} // namespace mqbridge
