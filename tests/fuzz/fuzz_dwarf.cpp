// DWARF types: the index of names, and layouts. The sections are the fuzzer's, the ELF file around
// them is sound. Input: a byte for the shape of the file, the lengths of all sections but the last
// (2 bytes each), then the sections.

#include "host/disk/work_budget.h"
#include "host/elf/elf_file.h"
#include "tests/builders/elf_builder.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/types/types_in_process.h"

#include <array>
#include <chrono>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

/// libdwarf may take long over a corrupt unit: one call of it is not ended early, all others are.
constexpr std::chrono::milliseconds budget{500};

/// Without .debug_rnglists: libdwarf 0.5 frees its list of them twice when one is cut short, before
/// it reads anything else.
constexpr std::array sections = {".debug_abbrev", ".debug_str",  ".debug_line_str",
                                 ".debug_types",  ".debug_addr", ".debug_str_offsets",
                                 ".debug_line",   ".debug_info"};

std::string file_around(FuzzInput& input) {
  test::ElfBuilder elf(test::elf_shapes[input.number(1) % std::size(test::elf_shapes)]);
  std::array<std::uint64_t, sections.size()> lengths{};
  for (std::size_t i = 0; i + 1 < sections.size(); ++i)
    lengths[i] = input.number(2);
  lengths.back() = input.rest().size();
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (const auto contents = input.take(lengths[i]); !contents.empty())
      elf.add_section(sections[i], SHT_PROGBITS, std::string(contents));
  return elf.bytes();
}

void check(const TypeLayout& layout, std::string_view name) {
  require(layout.name == name);
  for (const auto& field : layout.fields)
    require(field.offset <= layout.size);
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static const test::FuzzFile place;
  FuzzInput input(data, size);
  place.replace(file_around(input));
  const auto file = ElfFile::open(place.path());
  require(file.has_value());
  const WorkScope scope({.deadline = std::chrono::steady_clock::now() + budget});
  const auto types = test::types_in_process(place.path());
  if (!types) {
    require(!types.error().message.empty());
    return 0;
  }
  for (const std::string_view name : {"X", "struct X", "union X", "enum X", "list_t", "int"}) {
    const auto found = (*types)->find(name);
    if (!found)
      require(!found.error().message.empty());
    else if (*found != nullptr)
      check(**found, name);
  }
  return 0;
}
