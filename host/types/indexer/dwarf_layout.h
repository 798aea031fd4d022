#pragma once

#include "host/types/indexer/dwarf_parts.h"
#include "host/types/types.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mqbridge {

/// Works out the layout of one type from its DIE. It counts the DIEs that it visits, so each object
/// is for one question. Every loop that corrupt input could close is bounded; reaching a bound is a
/// fault of the file.
class DwarfLayout {
public:
  /// `parts` and `questions` outlive this.
  DwarfLayout(DwarfParts& parts, Questions& questions, std::uint64_t pointer_size)
      : parts_(parts), file_(parts.main()), questions_(questions), pointer_size_(pointer_size) {}

  /// nullopt: no complete type (a declaration without definition, void, a function).
  std::optional<TypeLayout> of(DwarfDie type);

private:
  DwarfDie strip(DwarfDie type);
  DwarfDie definition(DwarfDie type);
  std::optional<std::uint64_t> size_of(DwarfDie type, int depth);
  std::optional<std::uint64_t> array_size(const DwarfDie& array, int depth);
  void add_members(const DwarfDie& aggregate, std::uint64_t base, int depth, TypeLayout& layout);
  void add_member(const DwarfDie& member, bool in_union, std::uint64_t base, int depth,
                  TypeLayout& layout);
  std::optional<std::uint64_t> member_offset(const DwarfDie& member, bool in_union,
                                             std::uint64_t size);
  bool visit();

  DwarfParts& parts_;
  DwarfFile& file_; // the main one of them
  Questions& questions_;
  std::uint64_t pointer_size_;
  std::uint64_t visited_ = 0;
};

} // namespace mqbridge
