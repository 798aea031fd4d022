#include "host/elf/elf_file.h"

#include "host/elf/elf_reader.h"
#include "host/elf/elf_symbols.h"

#include <algorithm>
#include <cerrno>
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mqbridge {
namespace {

// .gnu_debuglink: a file name, zero bytes up to a multiple of four, the CRC in the file's byte
// order.
std::optional<ElfFile::DebugLink> parse_debug_link(const std::optional<std::string>& section,
                                                   ByteOrder byte_order) {
  const auto end = section ? section->find('\0') : std::string::npos;
  if (end == std::string::npos || end == 0)
    return std::nullopt;
  const std::size_t crc_at = (end + 4) / 4 * 4;
  if (crc_at + 4 > section->size())
    return std::nullopt;
  ElfFile::DebugLink link{section->substr(0, end), 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<std::uint8_t>((*section)[crc_at + i]);
    const auto shift = 8 * (byte_order == ByteOrder::little ? i : 3 - i);
    link.crc |= std::uint32_t{byte} << shift;
  }
  return link;
}

// .gnu_debugaltlink: a file name, a zero byte, the build-id.
std::optional<ElfFile::AlternateLink>
parse_alternate_link(const std::optional<std::string>& section) {
  const auto end = section ? section->find('\0') : std::string::npos;
  if (end == std::string::npos || end == 0)
    return std::nullopt;
  return ElfFile::AlternateLink{section->substr(0, end), hexadecimal(section->substr(end + 1))};
}

std::unique_ptr<ElfSymbols> open_symbols(const ElfReader& reader,
                                         std::span<const SymbolTablePlace> places,
                                         const std::string& identity) {
  std::vector<SymbolTable> tables;
  for (const auto& place : places)
    tables.emplace_back(reader.file(), place, reader.symbol_format(),
                        fmt::format("{} symbols at {}", identity, place.offset));
  return std::make_unique<ElfSymbols>(std::move(tables));
}

} // namespace

Result<Platform> read_elf_platform(const std::filesystem::path& path) {
  auto reader = ElfReader::open(path);
  if (!reader)
    return forward(std::move(reader));
  return reader->platform();
}

struct ElfFile::Impl {
  FilePlace place;
  Platform platform;
  std::string build_id;
  FileAddress entry;
  std::optional<FileAddress> program_headers;
  std::vector<ElfSegment> segments;
  std::vector<ElfSegment> notes;
  std::string identity;
  std::unique_ptr<ElfSymbols> symbols;
  ElfDynamic dynamic;
  bool has_dwarf = false;
  std::optional<DebugLink> debug_link;
  std::optional<AlternateLink> alternate_link;
  std::string unknown_compression;
};

ElfFile::ElfFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ElfFile::~ElfFile() = default;

Result<std::shared_ptr<const ElfFile>> ElfFile::open(const FilePlace& place) {
  auto reader = ElfReader::open(place);
  if (!reader)
    return forward(std::move(reader));
  auto segments = reader->segments(PT_LOAD);
  if (!segments)
    return forward(std::move(segments));
  auto notes = reader->segments(PT_NOTE);
  if (!notes)
    return forward(std::move(notes));
  auto tables = reader->symbol_tables();
  if (!tables)
    return forward(std::move(tables));
  auto dynamic = reader->dynamic();
  if (!dynamic)
    return forward(std::move(dynamic));

  auto impl = std::make_unique<Impl>();
  impl->place = place;
  impl->platform = reader->platform();
  impl->build_id = reader->build_id();
  impl->entry = reader->entry();
  impl->program_headers = reader->program_headers();
  impl->segments = std::move(*segments);
  impl->notes = std::move(*notes);
  impl->identity = reader->file().identity(impl->build_id);
  impl->symbols = open_symbols(*reader, *tables, impl->identity);
  impl->dynamic = std::move(*dynamic);
  impl->has_dwarf = reader->has_dwarf();
  impl->debug_link =
      parse_debug_link(reader->section_bytes(".gnu_debuglink"), impl->platform.byte_order);
  impl->alternate_link = parse_alternate_link(reader->section_bytes(".gnu_debugaltlink"));
  impl->unknown_compression = reader->unknown_compression();
  return std::shared_ptr<const ElfFile>(new ElfFile(std::move(impl)));
}

const FilePlace& ElfFile::place() const {
  return impl_->place;
}
const Platform& ElfFile::platform() const {
  return impl_->platform;
}
const std::string& ElfFile::build_id() const {
  return impl_->build_id;
}
const std::string& ElfFile::identity() const {
  return impl_->identity;
}
FileAddress ElfFile::entry() const {
  return impl_->entry;
}
std::optional<FileAddress> ElfFile::program_headers() const {
  return impl_->program_headers;
}
std::span<const ElfSegment> ElfFile::segments() const {
  return impl_->segments;
}
std::span<const ElfSegment> ElfFile::notes() const {
  return impl_->notes;
}
const std::string& ElfFile::soname() const {
  return impl_->dynamic.soname;
}
const std::vector<std::string>& ElfFile::needed() const {
  return impl_->dynamic.needed;
}
bool ElfFile::has_dwarf() const {
  return impl_->has_dwarf;
}
std::optional<ElfFile::DebugLink> ElfFile::debug_link() const {
  return impl_->debug_link;
}
std::optional<ElfFile::AlternateLink> ElfFile::alternate_link() const {
  return impl_->alternate_link;
}
const std::string& ElfFile::unknown_compression() const {
  return impl_->unknown_compression;
}

const ElfSymbol* ElfFile::find_symbol(std::string_view name) const {
  return impl_->symbols->find(name);
}

std::vector<const ElfSymbol*> ElfFile::symbols_ending_with(std::string_view suffix) const {
  return impl_->symbols->ending_with(suffix);
}

std::size_t ElfFile::read(FileAddress address, std::span<std::byte> into) const {
  for (const auto& segment : impl_->segments) {
    if (address.value < segment.address.value)
      continue;
    const auto skip = address.value - segment.address.value;
    if (skip >= segment.size)
      continue;
    // The file is opened for each call: a job has thousands of images, and few such calls come.
    auto fd = open_regular_file(impl_->place);
    if (!fd)
      return 0;
    const auto wanted = std::min<std::uint64_t>(into.size(), segment.size - skip);
    ssize_t count = -1;
    do {
      count = ::pread(fd->get(), into.data(), wanted, static_cast<off_t>(segment.offset + skip));
    } while (count < 0 && errno == EINTR);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  return 0;
}

} // namespace mqbridge
