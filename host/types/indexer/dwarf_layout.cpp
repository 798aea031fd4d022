#include "host/types/indexer/dwarf_layout.h"

#include "host/types/indexer/name_collector.h"

#include <dwarf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr int depth_limit = 32;                  // arrays of arrays, anonymous structs in structs
constexpr int chain_limit = 64;                  // typedefs and qualifiers in a row
constexpr std::uint64_t visit_limit = 1'000'000; // DIEs for one type

bool is_alias(Dwarf_Half tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
         tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool is_aggregate(Dwarf_Half tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_pointer(Dwarf_Half tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
         tag == DW_TAG_rvalue_reference_type;
}

NameKind kind_of_tag(Dwarf_Half tag) {
  if (tag == DW_TAG_union_type)
    return NameKind::union_;
  return tag == DW_TAG_enumeration_type ? NameKind::enumeration : NameKind::structure;
}

} // namespace

bool DwarfLayout::visit() {
  if (visited_ % DwarfFile::dies_between_looks == 0)
    file_.end_if_over();
  if (++visited_ <= visit_limit)
    return !file_.faulty();
  file_.set_fault("a type is made of more than a million parts");
  return false;
}

std::optional<TypeLayout> DwarfLayout::of(DwarfDie type) {
  type = strip(std::move(type));
  const auto tag = type.tag();
  if (!is_aggregate(tag)) {
    const auto size = size_of(std::move(type), 0);
    if (!size)
      return std::nullopt;
    return TypeLayout{{}, *size, {}};
  }
  const auto size = type.number(DW_AT_byte_size);
  if (!size || *size < 0)
    return std::nullopt;
  TypeLayout layout{{}, static_cast<std::uint64_t>(*size), {}};
  add_members(type, 0, 0, layout);
  return layout;
}

// Follows typedefs and qualifiers to the type that they name, and a declaration to its definition.
// Empty: it is void, or no definition is known.
DwarfDie DwarfLayout::strip(DwarfDie type) {
  for (int step = 0; type && is_alias(type.tag()); ++step) {
    if (step == chain_limit) {
      file_.set_fault(fmt::format("typedefs at {:#x} go round in a circle", type.place().offset));
      return {};
    }
    type = type.reference(DW_AT_type);
  }
  return definition(std::move(type));
}

DwarfDie DwarfLayout::definition(DwarfDie type) {
  if (!type)
    return type;
  // -fdebug-types-section: the definition is a unit of its own.
  if (auto unit = type.reference(DW_AT_signature))
    return unit;
  if (!type.flag(DW_AT_declaration))
    return type;
  const auto kind = kind_of_tag(type.tag());
  for (const auto place : questions_.candidates(kind, type.name())) {
    if (auto found = named_type(parts_, place, kind, type.name()))
      return found;
  }
  return {};
}

std::optional<std::uint64_t> DwarfLayout::size_of(DwarfDie type, int depth) {
  type = strip(std::move(type));
  if (!type || !visit())
    return std::nullopt;
  if (depth >= depth_limit) {
    file_.set_fault(fmt::format("types at {:#x} contain each other", type.place().offset));
    return std::nullopt;
  }
  if (const auto size = type.number(DW_AT_byte_size))
    return *size < 0 ? std::nullopt : std::optional<std::uint64_t>(*size);
  const auto tag = type.tag();
  if (is_pointer(tag))
    return pointer_size_;
  if (tag == DW_TAG_array_type)
    return array_size(type, depth);
  if (tag == DW_TAG_enumeration_type)
    return size_of(type.reference(DW_AT_type), depth + 1);
  return std::nullopt;
}

std::optional<std::uint64_t> DwarfLayout::array_size(const DwarfDie& array, int depth) {
  auto size = size_of(array.reference(DW_AT_type), depth + 1);
  if (!size)
    return std::nullopt;
  for (auto range = array.child(); range && visit(); range = range.sibling()) {
    if (range.tag() != DW_TAG_subrange_type)
      continue;
    auto count = range.number(DW_AT_count);
    if (const auto last = range.number(DW_AT_upper_bound); !count && last) {
      // The numbers are unsigned, so that senseless bounds wrap around.
      const auto first = static_cast<std::uint64_t>(range.number(DW_AT_lower_bound).value_or(0));
      count = static_cast<std::int64_t>(static_cast<std::uint64_t>(*last) - first + 1);
    }
    // Without a bound it is a flexible member, which takes no room.
    const auto elements = static_cast<std::uint64_t>(std::max<std::int64_t>(0, count.value_or(0)));
    if (__builtin_mul_overflow(*size, elements, &*size)) {
      file_.set_fault(fmt::format("the array at {:#x} does not fit", array.place().offset));
      return std::nullopt;
    }
  }
  return size;
}

void DwarfLayout::add_members(const DwarfDie& aggregate, std::uint64_t base, int depth,
                              TypeLayout& layout) {
  if (depth >= depth_limit) {
    file_.set_fault(fmt::format("types at {:#x} contain each other", aggregate.place().offset));
    return;
  }
  const bool in_union = aggregate.tag() == DW_TAG_union_type;
  for (auto member = aggregate.child(); member && visit(); member = member.sibling()) {
    const auto tag = member.tag();
    if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
      add_member(member, in_union, base, depth, layout);
    if (file_.faulty())
      return;
  }
}

void DwarfLayout::add_member(const DwarfDie& member, bool in_union, std::uint64_t base, int depth,
                             TypeLayout& layout) {
  // A static member of C++.
  if (member.flag(DW_AT_external) || member.flag(DW_AT_declaration))
    return;
  const auto size = size_of(member.reference(DW_AT_type), 0).value_or(0);
  const auto within = member_offset(member, in_union, size);
  if (!within)
    return;
  std::uint64_t offset = 0;
  if (__builtin_add_overflow(base, *within, &offset) || offset > layout.size) {
    file_.set_fault(fmt::format("the member at {:#x} is outside of its type", //
                                member.place().offset));
    return;
  }
  const auto name = member.name();
  if (!name.empty()) {
    layout.fields.push_back({std::string(name), offset, size});
    return;
  }
  // Members of an anonymous struct or union, and those of a base class, are members of the outer
  // type.
  const auto type = strip(member.reference(DW_AT_type));
  if (type && is_aggregate(type.tag()))
    add_members(type, offset, depth + 1, layout);
}

// The distance in bytes from the start of the aggregate, for a bit-field that of its storage unit.
// nullopt: the member is at no fixed place.
std::optional<std::uint64_t> DwarfLayout::member_offset(const DwarfDie& member, bool in_union,
                                                        std::uint64_t size) {
  if (const auto location = member.member_location())
    return location;
  if (const auto bits = member.number(DW_AT_data_bit_offset); bits && *bits >= 0) {
    const auto unit = size == 0 ? 1 : size;
    return static_cast<std::uint64_t>(*bits) / 8 / unit * unit;
  }
  // Members of a union carry no location.
  return in_union ? std::optional<std::uint64_t>(0) : std::nullopt;
}

} // namespace mqbridge
