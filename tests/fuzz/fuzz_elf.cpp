// ELF files: headers, segments, symbol tables and their hashes, notes, links to debug files.
// Input: the file.

#include "host/elf/elf_file.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_input.h"

#include <array>

namespace mqbridge {
namespace {

using test::require;

void look_at(const ElfFile& file) {
  std::array<std::byte, 64> bytes{};
  for (const auto& segment : file.segments()) {
    const FileAddress last{segment.address.value + segment.size - 1};
    for (const auto address : {segment.address, last})
      require(file.read(address, bytes) <= bytes.size());
  }
  for (const std::string_view name : {"MPIR_dll_name", "ompi_mpi_comm_world", "main", ""})
    if (const auto* symbol = file.find_symbol(name))
      require(symbol->name == name);
  for (const auto* symbol : file.symbols_ending_with("_t_class"))
    require(symbol->name.ends_with("_t_class"));
  require(file.build_id().size() % 2 == 0);
  static_cast<void>(file.program_headers());
  static_cast<void>(file.needed().size() + file.soname().size());
  static_cast<void>(file.has_dwarf());
  static_cast<void>(file.debug_link());
  static_cast<void>(file.alternate_link());
  static_cast<void>(file.unknown_compression());
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static const test::FuzzFile place;
  place.replace({reinterpret_cast<const char*>(data), size});
  const auto file = ElfFile::open(place.path());
  if (file)
    look_at(**file);
  else
    test::require(!file.error().code.empty() && !file.error().message.empty());
  if (const auto platform = read_elf_platform(place.path()); !platform)
    test::require(!platform.error().message.empty());
  return 0;
}
