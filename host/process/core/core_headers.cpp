#include "host/process/core/core_headers.h"

#include "host/disk/file_on_disk.h"
#include "host/limits.h"
#include "host/memory/reader.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <elf.h>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge {
namespace {

/// A compression, by the first bytes of a file, and the commands that unpack it.
struct Packing {
  std::string_view magic;
  const char* name;
  const char* command; ///< {} stands for the file
};

constexpr Packing packings[] = {
    {"\x28\xb5\x2f\xfd", "zstd", "zstd -d {} -o core"},
    {"\x04\x22\x4d\x18", "lz4", "lz4 -d {} core"},
    {"\xfd"
     "7zXZ",
     "xz", "xz -dc {} > core"},
    {"\x1f\x8b", "gzip", "gzip -dc {} > core"},
    {"BZh", "bzip2", "bzip2 -dc {} > core"},
};

/// The places of fields in the ELF header and in a program header of one class. MQBRIDGE_FIELD
/// gives offset and size.
struct Field {
  std::size_t at;
  std::size_t size;
};
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): offsetof takes no variable
#define MQBRIDGE_FIELD(structure, member)                                                          \
  (is_64 ? Field{offsetof(Elf64_##structure, member), sizeof(Elf64_##structure::member)}           \
         : Field{offsetof(Elf32_##structure, member), sizeof(Elf32_##structure::member)})

class HeaderReader {
public:
  HeaderReader(const std::filesystem::path& path, const FileDescriptor& fd, std::uint64_t size)
      : path_(path.string()), fd_(fd), size_(size) {}

  Result<CoreHeaders> read();

private:
  std::uint64_t field(std::span<const std::byte> structure, Field field) const {
    return decode_unsigned(structure.subspan(field.at, field.size), headers_.identity.byte_order);
  }
  Failure truncated(std::string_view where) const {
    return fail("core.truncated",
                fmt::format("{} is cut short: it has {} bytes, and ends {}", path_, size_, where),
                "let the next core be written whole: ulimit -c unlimited; df -h .");
  }
  Failure corrupt(std::string_view what) const {
    return fail("core.corrupt", fmt::format("{}: {}", path_, what),
                fmt::format("compare with the original: readelf -hl {}", pasteable(path_)));
  }
  Failure not_a_core(std::span<const std::byte> start) const;
  Result<void> read_identity();
  Result<void> read_programs();
  Result<std::uint64_t> count_of_section_header(std::uint64_t at) const;
  CoreHeader program(std::span<const std::byte> bytes) const;

  std::string path_;
  const FileDescriptor& fd_;
  std::uint64_t size_;
  std::array<std::byte, max_elf_header> header_{};
  CoreHeaders headers_;
};

Failure HeaderReader::not_a_core(std::span<const std::byte> start) const {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const auto& packing : packings) {
    if (text.starts_with(packing.magic))
      return fail("core.not_a_core", fmt::format("{} is compressed with {}", path_, packing.name),
                  fmt::format("{}   (or: coredumpctl dump PID -o core)",
                              fmt::format(fmt::runtime(packing.command), pasteable(path_))));
  }
  return fail("core.not_a_core", fmt::format("{} is not an ELF file", path_),
              fmt::format("file {}", pasteable(path_)));
}

Result<void> HeaderReader::read_identity() {
  const auto start = std::span(header_).first(read_at(fd_, 0, header_));
  if (start.empty())
    return fail("core.truncated", fmt::format("{} is empty", path_),
                "let the next core be written whole: ulimit -c unlimited; df -h .");
  const std::string_view magic(ELFMAG, SELFMAG);
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (!text.starts_with(magic) && !magic.starts_with(text))
    return not_a_core(start);
  const auto identity = parse_elf_identity(start);
  if (!identity && start.size() < header_.size())
    return truncated("within its ELF header");
  if (!identity)
    return corrupt("its ELF header states no known class or byte order");
  headers_.identity = *identity;
  const bool is_64 = identity->is_64;
  const auto type = field(start, MQBRIDGE_FIELD(Ehdr, e_type));
  if (type != ET_CORE)
    return fail("core.not_a_core",
                fmt::format("{} is an ELF file, but no core: {} (type {})", path_,
                            type == ET_EXEC || type == ET_DYN ? "it is an executable or a library"
                                                              : "it is an object file or unknown",
                            type),
                "give the core first, and then its executable: core:CORE@EXECUTABLE");
  if (identity->flags == 0) // kernel and QEMU leave the flags of most cores at 0
    headers_.identity.flags = architecture_of(*identity).core_flags;
  return {};
}

/// A core of 65,535 program headers and more has their number in section header 0, which stands at
/// the end of the file. The first segment has the notes: it begins behind the program headers.
Result<std::uint64_t> HeaderReader::count_of_section_header(std::uint64_t at) const {
  const bool is_64 = headers_.identity.is_64;
  const auto sections = field(header_, MQBRIDGE_FIELD(Ehdr, e_shoff));
  std::array<std::byte, sizeof(Elf64_Shdr)> section{};
  const auto size = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (read_at(fd_, sections, std::span(section).first(size)) == size)
    return field(section, MQBRIDGE_FIELD(Shdr, sh_info));
  std::array<std::byte, sizeof(Elf64_Phdr)> first{};
  const auto entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  if (read_at(fd_, at, std::span(first).first(entry)) != entry)
    return truncated("before its first program header");
  const auto notes = program(first);
  if (notes.type != PT_NOTE || notes.offset < at)
    return truncated("before the number of its program headers");
  return (notes.offset - at) / entry;
}

CoreHeader HeaderReader::program(std::span<const std::byte> bytes) const {
  const bool is_64 = headers_.identity.is_64;
  CoreHeader header;
  header.type = static_cast<std::uint32_t>(field(bytes, MQBRIDGE_FIELD(Phdr, p_type)));
  header.flags = static_cast<std::uint32_t>(field(bytes, MQBRIDGE_FIELD(Phdr, p_flags)));
  header.offset = field(bytes, MQBRIDGE_FIELD(Phdr, p_offset));
  header.address = field(bytes, MQBRIDGE_FIELD(Phdr, p_vaddr));
  header.file_size = field(bytes, MQBRIDGE_FIELD(Phdr, p_filesz));
  header.memory_size = field(bytes, MQBRIDGE_FIELD(Phdr, p_memsz));
  header.alignment = field(bytes, MQBRIDGE_FIELD(Phdr, p_align));
  return header;
}

Result<void> HeaderReader::read_programs() {
  const bool is_64 = headers_.identity.is_64;
  const auto entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  const auto entry_size = field(header_, MQBRIDGE_FIELD(Ehdr, e_phentsize));
  if (entry_size != entry)
    return corrupt(
        fmt::format("its program headers have {} bytes each, not {}", entry_size, entry));
  const auto at = field(header_, MQBRIDGE_FIELD(Ehdr, e_phoff));
  headers_.table = at;
  headers_.counted = field(header_, MQBRIDGE_FIELD(Ehdr, e_phnum));
  if (headers_.counted == PN_XNUM) {
    auto count = count_of_section_header(at);
    if (!count)
      return forward(std::move(count));
    headers_.counted = *count;
  }
  if (headers_.counted == 0)
    return corrupt("it has no program headers");
  const auto there = at < size_ ? (size_ - at) / entry : 0;
  const auto count = std::min({headers_.counted, there, std::uint64_t{limits::core_mappings}});
  const auto bytes = read_range(fd_, at, count * entry);
  if (bytes.empty())
    return truncated("before its first program header");
  headers_.programs.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    headers_.programs.push_back(program(std::span(bytes).subspan(i * entry, entry)));
  return {};
}

Result<CoreHeaders> HeaderReader::read() {
  if (auto done = read_identity(); !done)
    return forward(std::move(done));
  if (auto done = read_programs(); !done)
    return forward(std::move(done));
  return std::move(headers_);
}

} // namespace

Result<CoreHeaders> read_core_headers(const std::filesystem::path& path, const FileDescriptor& fd,
                                      std::uint64_t size) {
  return HeaderReader(path, fd, size).read();
}

} // namespace mqbridge
