#include "host/types/indexer/mapped_elf.h"

#include "host/elf/bytes.h"
#include "host/limits.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mqbridge {
namespace {

/// Sections that libdwarf reads as soon as it sees them, and that types do not need. Each of them
/// is one more way to break it (0.5 frees its list of .debug_rnglists twice if they are cut short).
constexpr std::array<std::string_view, 4> not_for_types = {"rnglists", "loclists", "ranges", "loc"};

constexpr std::uint64_t largest_ratio = 1032; // deflate's: RFC 1951 allows no better one

std::optional<std::string> check_unpacked(const ElfSection& section) {
  const auto size = section.unpacked_size.value_or(0);
  if (size <= limits::elf_unpacked && size / largest_ratio <= section.size)
    return std::nullopt;
  return fmt::format("{} bytes cannot be {} when they are unpacked", section.size, size);
}

bool is_of_dwarf(std::string_view name) {
  if (!name.starts_with(".debug_") && !name.starts_with(".zdebug_"))
    return name == ".gnu_debugaltlink";
  name.remove_prefix(name.find('_') + 1);
  if (name.ends_with(".dwo"))
    name.remove_suffix(4);
  return std::find(not_for_types.begin(), not_for_types.end(), name) == not_for_types.end();
}

} // namespace

void Unmapping::operator()(const std::byte* at) const {
  ::munmap(const_cast<std::byte*>(at), size);
}

std::optional<MappedElf> MappedElf::map(const FileDescriptor& fd, std::string& why) {
  MappedElf elf;
  const off_t end = ::lseek(fd.get(), 0, SEEK_END); // fstat() is a call that takes names, too
  const auto size = static_cast<std::size_t>(end);
  void* at = end <= 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) {
    why = end == 0 ? "an empty file" : std::strerror(errno);
    return std::nullopt;
  }
  elf.mapping_ = {static_cast<const std::byte*>(at), Unmapping{size}};
  elf.bytes_ = {elf.mapping_.get(), size};
  if (auto defect = elf.read_sections()) {
    why = std::move(*defect);
    return std::nullopt;
  }
  return elf;
}

std::optional<std::string> MappedElf::read_sections() {
  if (bytes_.size() < EI_NIDENT || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
    return "not an ELF file";
  const auto ident = [&](std::size_t at) { return std::to_integer<unsigned>(bytes_[at]); };
  if (ident(EI_DATA) != ELFDATA2LSB && ident(EI_DATA) != ELFDATA2MSB)
    return fmt::format("unknown ELF byte order {}", ident(EI_DATA));
  byte_order_ = ident(EI_DATA) == ELFDATA2LSB ? ByteOrder::little : ByteOrder::big;
  is_64_ = ident(EI_CLASS) == ELFCLASS64;
  if (is_64_)
    return read_headers<Elf64_Ehdr, Elf64_Shdr, Elf64_Chdr>();
  return ident(EI_CLASS) == ELFCLASS32 ? read_headers<Elf32_Ehdr, Elf32_Shdr, Elf32_Chdr>()
                                       : fmt::format("unknown ELF class {}", ident(EI_CLASS));
}

template <class Header, class SectionHeader, class CompressionHeader>
std::optional<std::string> MappedElf::read_headers() {
  const auto header = structure<Header>(0);
  if (!header || native(header->e_shentsize) != sizeof(SectionHeader))
    return "its ELF header is cut short or inconsistent";
  const std::uint64_t table = native(header->e_shoff);
  const auto section = [&](std::uint64_t index) {
    return structure<SectionHeader>(table + index * sizeof(SectionHeader));
  };
  const auto first = section(0);
  if (!first)
    return "its section headers lie outside of it";
  // A number that does not fit 16 bits stands in the first section header (gABI, e_shnum).
  std::uint64_t count = native(header->e_shnum);
  std::uint64_t names_index = native(header->e_shstrndx);
  if (count == 0)
    count = native(first->sh_size);
  if (names_index == SHN_XINDEX)
    names_index = native(first->sh_link);
  const auto names = names_index < count ? section(names_index) : std::nullopt;
  if (!inside(table, 0) || count > (bytes_.size() - table) / sizeof(SectionHeader) || !names ||
      !inside(native(names->sh_offset), native(names->sh_size)))
    return "its section headers, or their names, lie outside of it";
  const std::uint64_t names_at = native(names->sh_offset);
  const std::uint64_t names_end = names_at + native(names->sh_size);
  sections_.emplace_back();
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto found = *section(i);
    const auto type = native(found.sh_type);
    const auto name = text_at(names_at + native(found.sh_name), names_end);
    if ((type == SHT_REL || type == SHT_RELA) && name.find(".debug_") != std::string_view::npos)
      has_relocations_ = true;
    if ((type != SHT_PROGBITS && type != SHT_MIPS_DWARF) || !is_of_dwarf(name))
      continue;
    if (!inside(native(found.sh_offset), native(found.sh_size)))
      return fmt::format("section {} lies outside of it", i);
    if (sections_.size() == limits::dwarf_sections)
      return fmt::format("more than {} sections of DWARF", limits::dwarf_sections);
    sections_.push_back({std::string(name), native(found.sh_addr), native(found.sh_offset),
                         native(found.sh_size), native(found.sh_entsize)});
    std::optional<std::string> defect;
    if ((native(found.sh_flags) & SHF_COMPRESSED) != 0)
      defect = unpack_by_header<CompressionHeader>(sections_.back());
    else if (name.starts_with(".z"))
      defect = unpack_by_name(sections_.back());
    if (defect)
      return fmt::format("section {}: {}", i, *defect);
  }
  return std::nullopt;
}

// SHF_COMPRESSED: a header says how (gABI, Elf64_Chdr).
template <class CompressionHeader>
std::optional<std::string> MappedElf::unpack_by_header(ElfSection& section) const {
  const auto header = section.size < sizeof(CompressionHeader)
                          ? std::nullopt
                          : structure<CompressionHeader>(section.offset);
  if (!header)
    return "it is too short to be compressed";
  if (native(header->ch_type) != ELFCOMPRESS_ZLIB)
    return fmt::format("compression of type {} is not known", native(header->ch_type));
  section.offset += sizeof(CompressionHeader);
  section.size -= sizeof(CompressionHeader);
  section.unpacked_size = native(header->ch_size);
  return check_unpacked(section);
}

// .zdebug_* is the older form of GNU tools: "ZLIB", then the size, big-endian.
std::optional<std::string> MappedElf::unpack_by_name(ElfSection& section) const {
  constexpr std::string_view magic = "ZLIB";
  constexpr std::size_t header_size = 12;
  const auto* header = bytes_.data() + section.offset;
  if (section.size < header_size || std::memcmp(header, magic.data(), magic.size()) != 0)
    return "it has no compression header";
  section.name.erase(1, 1);
  section.offset += header_size;
  section.size -= header_size;
  section.unpacked_size = load_integer<std::uint64_t>(header + magic.size(), ByteOrder::big);
  return check_unpacked(section);
}

template <class Structure>
std::optional<Structure> MappedElf::structure(std::uint64_t offset) const {
  if (!inside(offset, sizeof(Structure)))
    return std::nullopt;
  Structure value;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return value;
}

template <class Number>
Number MappedElf::native(Number number) const {
  return load_integer<Number>(reinterpret_cast<const std::byte*>(&number), byte_order_);
}

bool MappedElf::inside(std::uint64_t offset, std::uint64_t size) const {
  return offset <= bytes_.size() && size <= bytes_.size() - offset;
}

// The text at `offset`. Empty: there is none, or it has no end.
std::string_view MappedElf::text_at(std::uint64_t offset, std::uint64_t end) const {
  if (offset >= end)
    return {};
  const auto* from = reinterpret_cast<const char*>(bytes_.data() + offset);
  const auto size = ::strnlen(from, end - offset);
  return size == end - offset ? std::string_view() : std::string_view(from, size);
}

} // namespace mqbridge
