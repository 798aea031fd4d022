#include "host/types/indexer/name_collector.h"

#include <algorithm>
#include <dwarf.h>

namespace mqbridge {
namespace {

// Places that are collected between two sorts. If a name has too many places, a sort drops some.
constexpr std::size_t places_between_sorts = 1U << 20U;

} // namespace

std::optional<NameKind> name_kind_of(Dwarf_Half tag) {
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

DwarfDie named_type(DwarfParts& parts, TypePlace place, NameKind kind, std::string_view name) {
  auto die = parts.die_at(place);
  return name_kind_of(die.tag()) == kind && die.name() == name ? std::move(die) : DwarfDie();
}

std::vector<NamedPlace> NameCollector::collect() {
  parts_.for_each_unit([&](const DwarfUnit& unit) { add_unit(unit.die); });
  while (!to_be_added_.empty() && !parts_.main().faulty()) {
    const auto place = to_be_added_.back();
    to_be_added_.pop_back();
    add_unit(place.file->die_at(place));
  }
  sort();
  return std::exchange(places_, {});
}

void NameCollector::add_unit(const DwarfDie& unit) {
  auto& main = parts_.main();
  int until_look = 0;
  for (auto die = unit.child(); die && !main.faulty(); die = die.sibling()) {
    if (--until_look <= 0) {
      until_look = DwarfFile::dies_between_looks;
      main.end_if_over();
    }
    if (die.tag() != DW_TAG_imported_unit) {
      add(die);
      continue;
    }
    // Units of the file itself are visited anyway.
    const auto place = die.reference(DW_AT_import).place();
    if (place.file != nullptr && place.file != &main && imported_.insert(place).second)
      to_be_added_.push_back(place);
  }
}

void NameCollector::add(const DwarfDie& die) {
  const auto kind = name_kind_of(die.tag());
  if (!kind)
    return;
  const auto name = die.name();
  if (name.empty() || die.flag(DW_AT_declaration))
    return;
  if (const auto place = parts_.place_of(die))
    places_.push_back({name_hash(*kind, name), *place});
  if (places_.size() >= sorted_ + places_between_sorts)
    sort();
}

// Sorts by name; the places of one name stay in the order in which they were met.
void NameCollector::sort() {
  std::stable_sort(places_.begin(), places_.end(),
                   [](const NamedPlace& a, const NamedPlace& b) { return a.name < b.name; });
  constexpr auto enough = TypeNames::candidates_per_name;
  std::size_t kept = 0;
  for (const auto& place : places_) {
    if (kept < enough || places_[kept - enough].name != place.name)
      places_[kept++] = place;
  }
  places_.resize(kept);
  sorted_ = kept;
}

} // namespace mqbridge
