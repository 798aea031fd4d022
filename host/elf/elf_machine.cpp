#include "host/elf/elf_machine.h"

#include "host/memory/reader.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

FlaggedAbi abi_of(const ElfIdentity& header) {
  for (const auto& abi : architecture_of(header.machine, header.is_64).abis)
    if (abi.mask != 0 && (header.flags & abi.mask) == abi.value)
      return abi;
  return {};
}

} // namespace

std::optional<ElfIdentity> parse_elf_identity(std::span<const std::byte> header) {
  if (header.size() < EI_NIDENT || std::memcmp(header.data(), ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  const auto elf_class = std::to_integer<std::uint8_t>(header[EI_CLASS]);
  const auto data = std::to_integer<std::uint8_t>(header[EI_DATA]);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64)
    return std::nullopt;
  if (data != ELFDATA2LSB && data != ELFDATA2MSB)
    return std::nullopt;
  const bool is_64 = elf_class == ELFCLASS64;
  if (header.size() < (is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
    return std::nullopt;
  const auto order = data == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const auto flags_at = is_64 ? offsetof(Elf64_Ehdr, e_flags) : offsetof(Elf32_Ehdr, e_flags);
  const auto field = [&](std::size_t at, std::size_t size) {
    return decode_unsigned(header.subspan(at, size), order);
  };
  return ElfIdentity{static_cast<std::uint16_t>(field(offsetof(Elf64_Ehdr, e_machine), 2)), is_64,
                     order, static_cast<std::uint32_t>(field(flags_at, 4))};
}

const Architecture& architecture_of(const ElfIdentity& header) {
  return architecture_of(header.machine, header.is_64 || abi_of(header).is_wide);
}

Platform platform_of_elf(const ElfIdentity& header) {
  const auto& architecture = architecture_of(header);
  const auto abi = abi_of(header);
  Platform platform;
  const bool is_big = header.byte_order == ByteOrder::big && !architecture.big_name.empty();
  platform.architecture = is_big ? architecture.big_name : architecture.name;
  if (platform.architecture.empty())
    platform.architecture = fmt::format("e_machine {}", header.machine);
  platform.byte_order = header.byte_order;
  platform.set_data_model(header.is_64 || abi.is_lp64 ? DataModel::lp64 : DataModel::ilp32);
  platform.pointer_alignment = std::min(platform.pointer_size, architecture.pointer_alignment);
  platform.int64_alignment = std::min(architecture.int64_alignment, abi.int64_alignment);
  return platform;
}

} // namespace mqbridge
