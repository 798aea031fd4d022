#include "host/process/platform_probe.h"

#include "host/elf/elf_machine.h"
#include "host/process/target_description.h"

#include <array>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

std::string word_format(ByteOrder order, int pointer_size) {
  return fmt::format("{}-endian, {}-bit", order == ByteOrder::big ? "big" : "little",
                     8 * pointer_size);
}

std::string described(const Platform& platform) {
  return fmt::format("{} ({})", platform.architecture,
                     word_format(platform.byte_order, platform.pointer_size));
}

Failure contradiction(std::string_view one, std::string_view other, std::string hint) {
  return fail("target.platform", fmt::format("{}, but {}", one, other), std::move(hint));
}

constexpr const char* other_target =
    "is this the target that you mean? mqbridge dump ... --trace FILE records what the stub says";
constexpr const char* other_image = "give the files that run there: --image FILE[@BIAS]";

/// The word size of an auxiliary vector is that of the kernel's interface: 4 bytes for x32 and n32.
bool agree(const AuxiliaryVector& auxv, const Platform& platform) {
  return auxv.byte_order == platform.byte_order && auxv.pointer_size == platform.pointer_size;
}

std::string auxv_says(const AuxiliaryVector& auxv) {
  return fmt::format("the auxiliary vector is {}", word_format(auxv.byte_order, auxv.pointer_size));
}

void take_page_size(Platform& platform, const AuxiliaryVector& auxv) {
  if (const auto size = auxv.find(AT_PAGESZ))
    platform.page_size = static_cast<std::uint32_t>(*size);
}

} // namespace

std::vector<TargetAddress> elf_header_candidates(const AuxiliaryVector& auxv) {
  const auto table = auxv.find(AT_PHDR);
  const auto page_size = auxv.find(AT_PAGESZ);
  if (!table || !page_size)
    return {};
  const auto header_size = auxv.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  return {{*table - header_size}, {*table & ~(*page_size - 1)}};
}

Result<Platform> probe_platform(Memory& memory, const AuxiliaryVector& auxv) {
  const auto candidates = elf_header_candidates(auxv);
  if (candidates.empty())
    return fail("target.platform", "the auxiliary vector lacks AT_PHDR or AT_PAGESZ",
                "is the target a Linux process? of another, name the files: --image FILE[@BIAS]");
  std::array<std::array<std::byte, max_elf_header>, 2> bytes{};
  std::array ranges = {MemoryRange{candidates.front(), bytes[0]},
                       MemoryRange{candidates.back(), bytes[1]}};
  if (auto done = memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  for (const auto& range : ranges) {
    const auto header = parse_elf_identity(range.into.first(range.read));
    if (!header)
      continue;
    auto platform = platform_of_elf(*header);
    if (!agree(auxv, platform))
      return contradiction(auxv_says(auxv),
                           fmt::format("the executable's ELF header at {:#x} is for {}",
                                       range.address.value, described(platform)),
                           other_target);
    take_page_size(platform, auxv);
    return platform;
  }
  return fail("target.platform",
              fmt::format("no ELF header stands before the program headers at {:#x} of the target",
                          *auxv.find(AT_PHDR)),
              "its pages may be overwritten; name the file that runs there: --image FILE[@BIAS]");
}

Result<Platform> platform_of_images(std::span<const std::shared_ptr<const ElfFile>> images,
                                    const std::optional<AuxiliaryVector>& auxv) {
  const auto& first = *images.front();
  Platform platform = first.platform();
  for (const auto& image : images.subspan(1))
    if (image->platform() != platform)
      return contradiction(
          fmt::format("{} is for {}", first.path().string(), described(platform)),
          fmt::format("{} for {}", image->path().string(), described(image->platform())),
          other_image);
  if (auxv && !agree(*auxv, platform))
    return contradiction(auxv_says(*auxv),
                         fmt::format("{} is for {}", first.path().string(), described(platform)),
                         other_image);
  if (auxv)
    take_page_size(platform, *auxv);
  return platform;
}

Result<void> check_architecture(const Platform& platform, std::string_view name) {
  if (describes(name, platform))
    return {};
  return contradiction(fmt::format("the stub's target description says {}", name),
                       fmt::format("what runs there is for {}", described(platform)), other_target);
}

} // namespace mqbridge
