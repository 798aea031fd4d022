#include "host/target/platform_probe.h"

#include "host/image/elf_machine.h"
#include "host/memory/reader.h"

#include <array>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// The first bytes of both ELF classes' headers, up to e_machine.
constexpr std::size_t ident_size = EI_NIDENT + 4;

std::optional<Platform> parse_ident(std::span<const std::byte> bytes) {
  if (std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  const auto elf_class = std::to_integer<std::uint8_t>(bytes[EI_CLASS]);
  const auto data = std::to_integer<std::uint8_t>(bytes[EI_DATA]);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64)
    return std::nullopt;
  if (data != ELFDATA2LSB && data != ELFDATA2MSB)
    return std::nullopt;
  const auto order = data == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const auto machine =
      static_cast<std::uint16_t>(decode_unsigned(bytes.subspan(EI_NIDENT + 2, 2), order));
  return platform_of_elf(machine, elf_class == ELFCLASS64, order);
}

} // namespace

Result<Platform> probe_platform(Memory& memory, const AuxiliaryVector& auxv) {
  const auto table = auxv.find(AT_PHDR);
  const auto page_size = auxv.find(AT_PAGESZ);
  if (!table || !page_size)
    return fail("target.platform", "the auxiliary vector lacks AT_PHDR or AT_PAGESZ",
                "is the target a Linux process?");
  // The program headers follow the ELF header in the first page of the executable; without a header
  // there, they stand right behind it.
  const auto header_size = auxv.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  std::array<std::byte, 2 * ident_size> bytes{};
  std::array ranges = {
      MemoryRange{{*table & ~(*page_size - 1)}, std::span(bytes).first(ident_size)},
      MemoryRange{{*table - header_size}, std::span(bytes).last(ident_size)},
  };
  if (auto done = memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  for (const auto& range : ranges) {
    if (range.read < ident_size)
      continue;
    auto platform = parse_ident(range.into);
    if (!platform || platform->pointer_size != auxv.pointer_size ||
        platform->byte_order != auxv.byte_order)
      continue;
    platform->page_size = static_cast<std::uint32_t>(*page_size);
    return std::move(*platform);
  }
  return fail(
      "target.platform",
      fmt::format("no ELF header stands before the program headers at {:#x} of the target", *table),
      "record the packets with --trace FILE; the executable's pages may be overwritten");
}

} // namespace mqbridge
