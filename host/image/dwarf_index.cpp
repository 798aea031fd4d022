#include "host/image/dwarf_index.h"

#include "host/image/cache_records.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>

namespace mqbridge {
namespace {

// libdwarf can be slow on corrupt input: an index is given up rather than waited for.
constexpr std::chrono::seconds time_budget{20};

// A header's types are in every unit that includes it: a few candidates are enough to find a
// complete one.
constexpr std::size_t candidates_per_name = 16;

// Between two sorts, which drop what is beyond that.
constexpr std::size_t entries_between_sorts = 1U << 20U;

constexpr int dies_between_looks = 256; // at the clock

// A packed place.
constexpr unsigned offset_bits = 47;
constexpr unsigned file_shift = offset_bits + 1;
constexpr std::uint64_t in_info_bit = std::uint64_t{1} << offset_bits;
constexpr std::uint64_t max_offset = in_info_bit - 1;
constexpr std::size_t max_files = std::size_t{1} << (64 - file_shift);

std::uint64_t name_hash(NameKind kind, std::string_view name) {
  return checksum(std::as_bytes(std::span(name))) + static_cast<std::uint64_t>(kind);
}

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

void DwarfIndex::build(DwarfParts& parts) {
  deadline_ = std::chrono::steady_clock::now() + time_budget;
  auto& main = parts.main();
  files_ = {&main, parts.alternate()};
  parts.for_each_unit([&](const DwarfUnit& unit) { add_unit(unit.die, main); });
  while (!to_be_added_.empty() && !main.faulty()) {
    const auto place = to_be_added_.back();
    to_be_added_.pop_back();
    add_unit(place.file->die_at(place), main);
  }
  sort();
  entries_.shrink_to_fit();
}

void DwarfIndex::add_unit(const DwarfDie& unit, DwarfFile& main) {
  int until_look = 0;
  for (auto die = unit.child(); die; die = die.sibling()) {
    if (die.tag() == DW_TAG_imported_unit) {
      // Those of the file itself are visited anyway.
      const auto place = die.reference(DW_AT_import).place();
      if (place.file != nullptr && place.file != &main && imported_.insert(place).second)
        to_be_added_.push_back(place);
    } else {
      add(die);
    }
    if (--until_look <= 0) {
      until_look = dies_between_looks;
      main.end_if_over();
      if (std::chrono::steady_clock::now() >= deadline_)
        main.set_fault("indexing its types took more than 20 seconds");
    }
    if (main.faulty())
      return;
  }
}

void DwarfIndex::add(const DwarfDie& die) {
  const auto kind = name_kind_of(die.tag());
  if (!kind)
    return;
  const auto name = die.name();
  if (!name.empty() && !die.flag(DW_AT_declaration))
    add(*kind, name, die.place());
}

void DwarfIndex::add(NameKind kind, std::string_view name, const DiePlace& place) {
  const auto file = number_of(place.file);
  if (place.offset > max_offset || file >= max_files)
    return;
  entries_.push_back({name_hash(kind, name),
                      place.offset | (place.in_info ? in_info_bit : 0) | file << file_shift});
  if (entries_.size() >= sorted_ + entries_between_sorts)
    sort();
}

std::uint64_t DwarfIndex::number_of(DwarfFile* file) {
  const auto known = std::find(files_.rbegin(), files_.rend(), file);
  if (known != files_.rend())
    return static_cast<std::uint64_t>(files_.rend() - known) - 1;
  files_.push_back(file);
  return files_.size() - 1;
}

// By name; those of one name stay in the order in which they were met.
void DwarfIndex::sort() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.name < b.name; });
  std::size_t kept = 0;
  for (const auto& entry : entries_) {
    const bool enough =
        kept >= candidates_per_name && entries_[kept - candidates_per_name].name == entry.name;
    if (!enough)
      entries_[kept++] = entry;
  }
  entries_.resize(kept);
  sorted_ = kept;
}

DiePlace DwarfIndex::unpack(std::uint64_t place) const {
  return {files_[place >> file_shift], place & max_offset, (place & in_info_bit) != 0};
}

std::vector<DiePlace> DwarfIndex::find(NameKind kind, std::string_view name) const {
  std::vector<DiePlace> found;
  const auto wanted = name_hash(kind, name);
  auto entry = std::lower_bound(entries_.begin(), entries_.end(), wanted,
                                [](const Entry& a, std::uint64_t hash) { return a.name < hash; });
  for (; entry != entries_.end() && entry->name == wanted; ++entry) {
    const auto place = unpack(entry->place);
    const auto die = place.file->die_at(place);
    // Two names may have one hash.
    if (name_kind_of(die.tag()) == kind && die.name() == name)
      found.push_back(place);
  }
  return found;
}

std::optional<std::vector<std::byte>> DwarfIndex::to_bytes() const {
  if (files_.size() > 2)
    return std::nullopt;
  const auto bytes = std::as_bytes(std::span(entries_));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::optional<DwarfIndex> DwarfIndex::from_bytes(std::span<const std::byte> bytes,
                                                 DwarfParts& parts) {
  if (bytes.size() % sizeof(Entry) != 0)
    return std::nullopt;
  DwarfIndex index;
  index.files_ = {&parts.main(), parts.alternate()};
  index.entries_.resize(bytes.size() / sizeof(Entry));
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(index.entries_)).begin());
  for (const auto& entry : index.entries_) {
    const auto file = entry.place >> file_shift;
    if (file >= index.files_.size() || index.files_[file] == nullptr)
      return std::nullopt;
  }
  return index;
}

} // namespace mqbridge
