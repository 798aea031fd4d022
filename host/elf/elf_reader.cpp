#include "host/elf/elf_reader.h"

#include "host/codes.h"
#include "host/elf/bytes.h"
#include "host/elf/elf_machine.h"
#include "host/limits.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge {
namespace {

bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

/// The most bytes that a section of that type may have; nullopt: as many as the file has.
std::optional<std::uint64_t> largest_of_type(std::uint32_t type) {
  switch (type) {
  case SHT_STRTAB:
  case SHT_SYMTAB:
  case SHT_DYNSYM:
  case SHT_GNU_HASH:
    return limits::elf_table;
  case SHT_DYNAMIC:
  case SHT_NOTE:
    return limits::elf_list;
  default:
    return std::nullopt;
  }
}

// The build-id among the notes of one section or segment.
std::string build_id_in(Elf_Data* data) {
  if (data == nullptr || data->d_buf == nullptr)
    return {};
  GElf_Nhdr note;
  std::size_t name = 0;
  std::size_t description = 0;
  for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU ||
        note.n_descsz > limits::build_id)
      continue;
    const auto* bytes = static_cast<const char*>(data->d_buf);
    if (std::memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
      continue;
    return hexadecimal({bytes + description, note.n_descsz});
  }
  return {};
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode))
    return "a directory";
  if (S_ISFIFO(mode))
    return "a FIFO";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

} // namespace

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Result<FileDescriptor> open_regular_file(const FilePlace& place) {
  const auto path = place.path.string();
  struct stat status {};
  auto fd = open_if_regular(place, status);
  if (fd)
    return fd;
  if (status.st_mode == 0 || S_ISREG(status.st_mode))
    return fail(codes::elf_open, fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                fmt::format("ls -l {}", pasteable(path)));
  return fail(codes::elf_open,
              fmt::format("{} is not a regular file, but {}", path, kind_of(status.st_mode)),
              fmt::format("ls -l {}", pasteable(path)));
}

Result<FileDescriptor> reopen(const ElfFile& elf) {
  auto fd = open_regular_file(elf.place());
  if (fd && FileOnDisk(elf.place(), *fd).identity(elf.build_id()) != elf.identity())
    return fail(codes::elf_open, fmt::format("{} was replaced meanwhile", elf.path().string()),
                "run it again");
  return fd;
}

bool is_elf(const FileDescriptor& fd) {
  std::array<std::byte, SELFMAG> magic{};
  return read_at(fd, 0, magic) == magic.size() && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

Result<ElfReader> ElfReader::open(const FilePlace& place) {
  ElfReader reader;
  const auto& path = place.path;
  auto fd = open_regular_file(place);
  if (!fd)
    return forward(std::move(fd));
  reader.fd_ = std::move(*fd);

  reader.file_ = FileOnDisk(place, reader.fd_);
  char magic[SELFMAG] = {};
  if (::pread(reader.fd_.get(), magic, sizeof magic, 0) < 0) {
    return fail(codes::elf_open,
                fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  if (std::memcmp(magic, ELFMAG, SELFMAG) != 0) {
    return fail("elf.not_elf", fmt::format("{} is not an ELF file", path.string()),
                fmt::format("file {}", pasteable(path.string())));
  }
  if (elf_version(EV_CURRENT) == EV_NONE)
    return reader.corrupt("libelf does not know the current ELF version");
  reader.elf_.reset(elf_begin(reader.fd_.get(), ELF_C_READ, nullptr));
  if (auto done = reader.check_header(); !done)
    return forward(std::move(done));
  if (auto done = reader.check_sections(); !done)
    return forward(std::move(done));
  return reader;
}

Failure ElfReader::corrupt(std::string_view what) const {
  return fail(
      "elf.corrupt", fmt::format("{}: {}", file_.path().string(), what),
      fmt::format("compare with the original: readelf -hSl {}", pasteable(file_.path().string())));
}

Result<void> ElfReader::check_header() {
  GElf_Ehdr header;
  if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || gelf_getehdr(elf_.get(), &header) == nullptr)
    return corrupt("the ELF header is cut short or inconsistent");
  const bool is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_64 && header.e_ident[EI_CLASS] != ELFCLASS32)
    return corrupt(fmt::format("unknown ELF class {}", header.e_ident[EI_CLASS]));
  const auto data = header.e_ident[EI_DATA];
  if (data != ELFDATA2LSB && data != ELFDATA2MSB)
    return corrupt(fmt::format("unknown ELF byte order {}", data));

  const std::size_t section_header = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  const std::size_t program_header = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  std::size_t programs = 0;
  std::size_t sections = 0;
  if (elf_getphdrnum(elf_.get(), &programs) != 0 || elf_getshdrnum(elf_.get(), &sections) != 0)
    return corrupt("the numbers of program and section headers are inconsistent");
  if (programs > 0 && (header.e_phentsize != program_header ||
                       !fits(header.e_phoff, programs * program_header, file_.size())))
    return corrupt("the program headers lie outside of the file");
  if (header.e_shoff != 0 && (header.e_shentsize != section_header || sections == 0 ||
                              !fits(header.e_shoff, sections * section_header, file_.size())))
    return corrupt("the section headers lie outside of the file");
  platform_ =
      platform_of_elf({.machine = header.e_machine,
                       .is_64 = is_64,
                       .byte_order = data == ELFDATA2LSB ? ByteOrder::little : ByteOrder::big,
                       .flags = header.e_flags});
  return {};
}

Result<void> ElfReader::check_sections() const {
  Elf_Scn* section = nullptr;
  std::uint64_t unpacked = 0;
  while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr)
      return corrupt(fmt::format("section header {} cannot be read", elf_ndxscn(section)));
    if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL)
      continue;
    if (!fits(header.sh_offset, header.sh_size, file_.size()))
      return corrupt(fmt::format("section {} lies outside of the file", elf_ndxscn(section)));
    const auto largest = largest_of_type(header.sh_type);
    if (largest && header.sh_size > *largest)
      return corrupt(fmt::format("section {} has {} bytes, more than the {} that are read of its "
                                 "kind",
                                 elf_ndxscn(section), header.sh_size, *largest));
    unpacked = std::min(unpacked + std::min(unpacked_size(header), limits::elf_unpacked + 1),
                        limits::elf_unpacked + 1);
    if (unpacked > limits::elf_unpacked)
      return corrupt(fmt::format("its sections up to {} have more than {} bytes when they are "
                                 "unpacked",
                                 elf_ndxscn(section), limits::elf_unpacked));
  }
  return {};
}

/// The unpacked size that the section's compression header states (ELF gABI, Elf64_Chdr); 0: it is
/// not compressed. libelf would read the whole section for this.
std::uint64_t ElfReader::unpacked_size(const GElf_Shdr& section) const {
  if ((section.sh_flags & SHF_COMPRESSED) == 0)
    return 0;
  const bool is_64 = gelf_getclass(elf_.get()) == ELFCLASS64;
  std::array<std::byte, sizeof(Elf64_Chdr)> header{};
  const auto size = is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
  if (section.sh_size < size ||
      read_at(fd_, section.sh_offset, std::span(header).first(size)) != size)
    return 0;
  const auto order = platform_.byte_order;
  return is_64 ? load_integer<std::uint64_t>(header.data() + offsetof(Elf64_Chdr, ch_size), order)
               : load_integer<std::uint32_t>(header.data() + offsetof(Elf32_Chdr, ch_size), order);
}

FileAddress ElfReader::entry() const {
  GElf_Ehdr header;
  return {gelf_getehdr(elf_.get(), &header) == nullptr ? 0 : header.e_entry};
}

Result<std::vector<ElfSegment>> ElfReader::segments(std::uint32_t type) const {
  std::vector<ElfSegment> segments;
  std::size_t count = 0;
  elf_getphdrnum(elf_.get(), &count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) == nullptr)
      return corrupt(fmt::format("program header {} cannot be read", i));
    // The program headers of a separate debug file may still describe the contents of the original.
    if (header.p_type == type && fits(header.p_offset, header.p_filesz, file_.size()))
      segments.push_back({{header.p_vaddr},
                          header.p_offset,
                          header.p_filesz,
                          header.p_memsz,
                          (header.p_flags & PF_W) != 0});
  }
  return segments;
}

std::optional<FileAddress> ElfReader::program_headers() const {
  GElf_Ehdr header;
  std::size_t count = 0;
  if (gelf_getehdr(elf_.get(), &header) == nullptr || elf_getphdrnum(elf_.get(), &count) != 0)
    return std::nullopt;
  std::optional<FileAddress> loaded;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr program;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &program) == nullptr)
      return std::nullopt;
    if (program.p_type == PT_PHDR)
      return FileAddress{program.p_vaddr};
    const bool holds = program.p_type == PT_LOAD && header.e_phoff >= program.p_offset &&
                       header.e_phoff - program.p_offset < program.p_filesz;
    if (holds && !loaded)
      loaded = FileAddress{program.p_vaddr + (header.e_phoff - program.p_offset)};
  }
  return loaded;
}

Elf_Scn* ElfReader::find_section(
    const std::function<bool(std::string_view name, std::size_t type)>& accept) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0)
    return nullptr;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr)
      return nullptr;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    if (accept(name == nullptr ? "" : name, header.sh_type))
      return section;
  }
  return nullptr;
}

SymbolFormat ElfReader::symbol_format() const {
  return {.is_64 = gelf_getclass(elf_.get()) == ELFCLASS64,
          .byte_order = platform_.byte_order,
          .marked_functions = architecture_of(platform_).marked_functions};
}

Result<std::vector<SymbolTablePlace>> ElfReader::symbol_tables() const {
  std::vector<SymbolTablePlace> tables;
  for (const std::size_t wanted : {SHT_DYNSYM, SHT_SYMTAB}) {
    auto* section = find_section([&](auto, std::size_t type) { return type == wanted; });
    if (section == nullptr)
      continue;
    auto table = symbol_table(section);
    if (!table)
      return forward(std::move(table));
    tables.push_back(*table);
    tables.back().is_dynamic = wanted == SHT_DYNSYM;
    GElf_Shdr hash;
    auto* hash_section = find_section([&](auto, std::size_t type) { return type == SHT_GNU_HASH; });
    if (wanted == SHT_DYNSYM && hash_section != nullptr &&
        gelf_getshdr(hash_section, &hash) != nullptr) {
      tables.back().hash_offset = hash.sh_offset;
      tables.back().hash_size = hash.sh_size;
    }
  }
  return tables;
}

Result<SymbolTablePlace> ElfReader::symbol_table(Elf_Scn* section) const {
  GElf_Shdr symbols;
  GElf_Shdr names;
  if (gelf_getshdr(section, &symbols) == nullptr)
    return corrupt(fmt::format("section header {} cannot be read", elf_ndxscn(section)));
  auto* strings = elf_getscn(elf_.get(), symbols.sh_link);
  if (strings == nullptr || gelf_getshdr(strings, &names) == nullptr || names.sh_type != SHT_STRTAB)
    return corrupt(fmt::format("the symbol table in section {} has no string table: section {}",
                               elf_ndxscn(section), symbols.sh_link));
  const auto entry_size = symbol_format().entry_size();
  if (symbols.sh_entsize != entry_size)
    return corrupt(fmt::format("the symbols in section {} have {} bytes each, not {}",
                               elf_ndxscn(section), symbols.sh_entsize, entry_size));
  return SymbolTablePlace{.offset = symbols.sh_offset,
                          .count = symbols.sh_size / entry_size,
                          .names_offset = names.sh_offset,
                          .names_size = names.sh_size};
}

std::string ElfReader::build_id() const {
  std::string found;
  std::uint64_t left = limits::elf_list; // libelf keeps each piece that it reads
  const auto may_read = [&left](std::uint64_t size) {
    const bool may = size <= left;
    left -= may ? size : 0;
    return may;
  };
  Elf_Scn* section = nullptr;
  while (found.empty() && (section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_NOTE &&
        may_read(header.sh_size))
      found = build_id_in(elf_getdata(section, nullptr));
  }
  std::size_t count = 0;
  elf_getphdrnum(elf_.get(), &count);
  for (std::size_t i = 0; found.empty() && i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) == nullptr)
      break;
    if (header.p_type != PT_NOTE || !fits(header.p_offset, header.p_filesz, file_.size()) ||
        !may_read(header.p_filesz))
      continue;
    const auto type = header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    found = build_id_in(elf_getdata_rawchunk(elf_.get(), static_cast<std::int64_t>(header.p_offset),
                                             header.p_filesz, type));
  }
  return found;
}

Result<ElfDynamic> ElfReader::dynamic() const {
  ElfDynamic dynamic;
  auto* section = find_section([](auto, std::size_t type) { return type == SHT_DYNAMIC; });
  if (section == nullptr)
    return dynamic;
  GElf_Shdr header;
  auto* data = elf_getdata(section, nullptr);
  if (gelf_getshdr(section, &header) == nullptr || data == nullptr)
    return corrupt("the dynamic section cannot be read");
  const auto count = data->d_size / gelf_fsize(elf_.get(), ELF_T_DYN, 1, EV_CURRENT);
  std::size_t text_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL)
      break;
    const bool is_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
    const bool is_library = entry.d_tag == DT_NEEDED || entry.d_tag == DT_FILTER ||
                            entry.d_tag == DT_AUXILIARY; // ld.so loads all of them
    if (entry.d_tag != DT_SONAME && !is_library && !is_path)
      continue;
    const char* text = elf_strptr(elf_.get(), header.sh_link, entry.d_un.d_val);
    if (text == nullptr)
      return corrupt(fmt::format("dynamic entry {} names no string of its table", i));
    if (text_bytes += std::strlen(text); text_bytes > limits::dynamic_text)
      return corrupt(fmt::format("the strings of its dynamic section have more than {} bytes",
                                 limits::dynamic_text));
    if (entry.d_tag == DT_SONAME)
      dynamic.soname = text;
    else if (is_path)
      dynamic.search_paths.emplace_back(text);
    else
      dynamic.needed.emplace_back(text);
  }
  return dynamic;
}

bool ElfReader::has_dwarf() const {
  auto* section = find_section([](std::string_view name, std::size_t type) {
    return type != SHT_NOBITS && (name == ".debug_info" || name == ".zdebug_info");
  });
  GElf_Shdr header;
  return section != nullptr && gelf_getshdr(section, &header) != nullptr && header.sh_size > 0;
}

std::string ElfReader::unknown_compression() const {
  auto* section = find_section([](std::string_view name, std::size_t type) {
    return type != SHT_NOBITS && name == ".debug_info";
  });
  // This is asked first: libelf reads the whole section in search of a compression header.
  GElf_Shdr section_header;
  GElf_Chdr header;
  if (section == nullptr || gelf_getshdr(section, &section_header) == nullptr ||
      (section_header.sh_flags & SHF_COMPRESSED) == 0 ||
      gelf_getchdr(section, &header) == nullptr || header.ch_type == ELFCOMPRESS_ZLIB)
    return {};
  constexpr unsigned zstd = 2; // ELFCOMPRESS_ZSTD, which glibc's <elf.h> does not have yet
  return header.ch_type == zstd ? "zstd" : fmt::format("type {}", header.ch_type);
}

std::optional<std::string> ElfReader::section_bytes(std::string_view name) const {
  auto* section = find_section([&](std::string_view section_name, std::size_t type) {
    return section_name == name && type != SHT_NOBITS;
  });
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr ||
      header.sh_size > limits::elf_list)
    return std::nullopt;
  auto* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr)
    return std::nullopt;
  return std::string(static_cast<const char*>(data->d_buf), data->d_size);
}

} // namespace mqbridge
