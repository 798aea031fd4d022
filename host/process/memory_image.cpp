#include "host/process/memory_image.h"

#include "host/elf/elf_reader.h"
#include "host/limits.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// Offsets that differ between the two ELF classes.
struct Layout {
  std::size_t header, phoff, phentsize, phnum, offset, vaddr, filesz, memsz, word;
};
constexpr Layout elf64 = {sizeof(Elf64_Ehdr),
                          offsetof(Elf64_Ehdr, e_phoff),
                          sizeof(Elf64_Phdr),
                          offsetof(Elf64_Ehdr, e_phnum),
                          offsetof(Elf64_Phdr, p_offset),
                          offsetof(Elf64_Phdr, p_vaddr),
                          offsetof(Elf64_Phdr, p_filesz),
                          offsetof(Elf64_Phdr, p_memsz),
                          8};
constexpr Layout elf32 = {sizeof(Elf32_Ehdr),
                          offsetof(Elf32_Ehdr, e_phoff),
                          sizeof(Elf32_Phdr),
                          offsetof(Elf32_Ehdr, e_phnum),
                          offsetof(Elf32_Phdr, p_offset),
                          offsetof(Elf32_Phdr, p_vaddr),
                          offsetof(Elf32_Phdr, p_filesz),
                          offsetof(Elf32_Phdr, p_memsz),
                          4};

const Layout& layout_of(const Platform& platform) {
  return platform.pointer_size == 8 ? elf64 : elf32;
}

ProgramHeader parse_header(std::span<const std::byte> bytes, const Platform& platform) {
  const auto& layout = layout_of(platform);
  const auto word = [&](std::size_t at) {
    return decode_unsigned(bytes.subspan(at, layout.word), platform.byte_order);
  };
  const auto type = decode_unsigned(bytes.first(4), platform.byte_order);
  return {static_cast<std::uint32_t>(type),
          word(layout.offset),
          {word(layout.vaddr)},
          word(layout.filesz),
          word(layout.memsz)};
}

/// The places of an object's notes in the target; empty: it has none.
std::vector<ProgramHeader> find_notes(std::span<const std::byte> head, const Platform& platform) {
  const auto& layout = layout_of(platform);
  if (head.size() < layout.header || std::memcmp(head.data(), ELFMAG, SELFMAG) != 0)
    return {};
  const auto table = decode_unsigned(head.subspan(layout.phoff, layout.word), platform.byte_order);
  const auto count = decode_unsigned(head.subspan(layout.phnum, 2), platform.byte_order);
  std::vector<ProgramHeader> notes;
  for (std::uint64_t i = 0; i < std::min(count, limits::program_headers); ++i) {
    const auto at = table + i * layout.phentsize;
    if (at > head.size() || head.size() - at < layout.phentsize)
      break;
    const auto header = parse_header(head.subspan(at, layout.phentsize), platform);
    if (header.type == PT_NOTE)
      notes.push_back(header);
  }
  return notes;
}

} // namespace

std::string find_build_id(std::span<const std::byte> bytes, ByteOrder order) {
  // Words of a note are 4 bytes in both classes.
  while (bytes.size() >= 12) {
    const auto name_size = decode_unsigned(bytes.first(4), order);
    const auto desc_size = decode_unsigned(bytes.subspan(4, 4), order);
    const auto type = decode_unsigned(bytes.subspan(8, 4), order);
    const auto name_end = 12 + (name_size + 3) / 4 * 4;
    const auto end = name_end + (desc_size + 3) / 4 * 4;
    if (end > bytes.size())
      return {};
    if (type == NT_GNU_BUILD_ID && name_size == 4 &&
        std::memcmp(bytes.data() + 12, "GNU", 4) == 0) {
      const auto id = bytes.subspan(name_end, desc_size);
      return hexadecimal({reinterpret_cast<const char*>(id.data()), id.size()});
    }
    bytes = bytes.subspan(end);
  }
  return {};
}

Result<std::vector<ProgramHeader>> read_program_headers(Memory& memory, const Platform& platform,
                                                        TargetAddress table, std::uint64_t count) {
  if (count > limits::program_headers)
    return fail(
        "image.corrupt",
        fmt::format("the auxiliary vector claims {} program headers at {:#x}", count, table.value),
        "give the executable's directory tree with --sysroot DIR");
  const auto entry = layout_of(platform).phentsize;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * entry);
  if (auto done = read_exact(memory, table, bytes); !done)
    return forward(std::move(done));
  std::vector<ProgramHeader> headers;
  for (std::size_t at = 0; at < bytes.size(); at += entry)
    headers.push_back(parse_header(std::span(bytes).subspan(at, entry), platform));
  return headers;
}

Result<std::vector<std::string>> read_build_ids(Memory& memory, const Platform& platform,
                                                std::span<const LoadedHeader> objects) {
  std::vector<std::byte> heads(objects.size() * image_head_size);
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < objects.size(); ++i)
    ranges.push_back(
        {objects[i].header, std::span(heads).subspan(i * image_head_size, image_head_size)});
  if (auto done = memory.read_ranges(ranges); !done)
    return forward(std::move(done));

  std::vector<std::string> ids(objects.size());
  std::vector<std::vector<std::byte>> far;
  std::vector<MemoryRange> far_ranges;
  std::vector<std::size_t> far_owner;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto head = ranges[i].into.first(ranges[i].read);
    std::vector<std::pair<TargetAddress, std::size_t>> wanted;
    for (const auto& note : find_notes(head, platform)) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(note.memory_size, limits::note));
      const auto at = objects[i].bias(note.address) - objects[i].header; // huge if it lies before
      if (at <= head.size() && size <= head.size() - at) {
        if (auto id = find_build_id(head.subspan(at, size), platform.byte_order); !id.empty())
          ids[i] = std::move(id);
        continue;
      }
      if (size > 0)
        wanted.emplace_back(objects[i].bias(note.address), size);
    }
    // Other notes (of the package, of the processor) lie anywhere, and cost a round trip for
    // nothing.
    if (!ids[i].empty())
      continue;
    for (const auto& [address, size] : wanted) {
      far.emplace_back(size);
      far_owner.push_back(i);
      far_ranges.push_back({address, far.back()});
    }
  }
  // Moving a vector keeps its buffer, so the ranges stay right while `far` grows.
  if (far_ranges.empty())
    return ids;
  if (auto done = memory.read_ranges(far_ranges); !done)
    return forward(std::move(done));
  for (std::size_t i = 0; i < far_ranges.size(); ++i) {
    auto id = find_build_id(far_ranges[i].into.first(far_ranges[i].read), platform.byte_order);
    if (!id.empty() && ids[far_owner[i]].empty())
      ids[far_owner[i]] = std::move(id);
  }
  return ids;
}

} // namespace mqbridge
