#pragma once

#include "tests/builders/elf_builder.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mqbridge::test {

/// Writes DIEs of one DWARF 4 unit, for what no compiler would write. DIEs refer to each other by
/// labels.
class DwarfBuilder {
public:
  /// Called twice: the first time to learn where the labels are.
  using Writing = std::function<void(DwarfBuilder& dies)>;

  /// An ELF file with the unit's .debug_info and .debug_abbrev.
  static ElfBuilder build(const ElfShape& shape, const Writing& writing);
  /// Contents of its two sections.
  static std::string info(const ElfShape& shape, const Writing& writing);
  static std::string abbreviations();

  DwarfBuilder& label(std::string_view name);
  DwarfBuilder& structure(std::string_view name,
                          std::uint64_t size); ///< members follow, then end()
  DwarfBuilder& declaration(std::string_view name);
  DwarfBuilder& member(std::string_view name, std::string_view type, std::uint64_t offset);
  DwarfBuilder& anonymous_member(std::string_view type, std::uint64_t offset);
  DwarfBuilder& array(std::string_view type, std::uint64_t last_index);
  DwarfBuilder& base(std::string_view name, std::uint8_t size);
  DwarfBuilder& pointer();
  DwarfBuilder& type_definition(std::string_view name, std::string_view type);
  /// A structure without members that claims the label as its sibling.
  DwarfBuilder& with_sibling(std::string_view name, std::string_view sibling);
  DwarfBuilder& end();

private:
  DwarfBuilder(const ElfShape& shape,
               const std::map<std::string, std::uint64_t, std::less<>>& known)
      : info_(shape.byte_order), labels_(known) {}
  DwarfBuilder& reference(std::string_view label);
  DwarfBuilder& leb(std::uint64_t value);
  void begin_unit(const ElfShape& shape, std::uint64_t length);

  ByteWriter info_;
  std::map<std::string, std::uint64_t, std::less<>> labels_;
};

} // namespace mqbridge::test
