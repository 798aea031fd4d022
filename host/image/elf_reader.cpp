#include "host/image/elf_reader.h"

#include "host/image/elf_machine.h"

#include <algorithm>
#include <cerrno>
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

// The build-id among the notes of one section or segment.
std::string build_id_in(Elf_Data* data) {
  if (data == nullptr || data->d_buf == nullptr)
    return {};
  GElf_Nhdr note;
  std::size_t name = 0;
  std::size_t description = 0;
  for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU)
      continue;
    const auto* bytes = static_cast<const char*>(data->d_buf);
    if (std::memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
      continue;
    return hexadecimal({bytes + description, note.n_descsz});
  }
  return {};
}

// A symbol that names a place in this object's memory. Not so: absolute ones (they do not move with
// the load bias), common ones (no address yet), thread-local ones (an offset in the TLS block).
bool has_address(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  if (type == STT_SECTION || type == STT_FILE || type == STT_TLS || type == STT_COMMON)
    return false;
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
         symbol.st_shndx != SHN_COMMON;
}

} // namespace

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Result<FileDescriptor> open_regular_file(const std::filesystem::path& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return fail("elf.open", fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                fmt::format("ls -l {}", path.string()));
  }
  if (!S_ISREG(status.st_mode))
    return fail("elf.open", fmt::format("{} is not a regular file", path.string()),
                fmt::format("ls -l {}", path.string()));
  return fd;
}

Result<ElfReader> ElfReader::open(const std::filesystem::path& path) {
  ElfReader reader;
  reader.path_ = path;
  auto fd = open_regular_file(path);
  if (!fd)
    return forward(std::move(fd));
  reader.fd_ = std::move(*fd);

  struct stat status {};
  char magic[SELFMAG] = {};
  if (::fstat(reader.fd_.get(), &status) != 0 ||
      ::pread(reader.fd_.get(), magic, sizeof magic, 0) < 0) {
    return fail("elf.open", fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  reader.file_size_ = static_cast<std::uint64_t>(status.st_size);
  if (std::memcmp(magic, ELFMAG, SELFMAG) != 0) {
    return fail("elf.not_elf", fmt::format("{} is not an ELF file", path.string()),
                fmt::format("file {}", path.string()));
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
  return fail("elf.corrupt", fmt::format("{}: {}", path_.string(), what),
              fmt::format("compare with the original: readelf -hSl {}", path_.string()));
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
                       !fits(header.e_phoff, programs * program_header, file_size_)))
    return corrupt("the program headers lie outside of the file");
  if (header.e_shoff != 0 && (header.e_shentsize != section_header || sections == 0 ||
                              !fits(header.e_shoff, sections * section_header, file_size_)))
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
  while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr)
      return corrupt(fmt::format("section header {} cannot be read", elf_ndxscn(section)));
    if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL)
      continue;
    if (!fits(header.sh_offset, header.sh_size, file_size_))
      return corrupt(fmt::format("section {} lies outside of the file", elf_ndxscn(section)));
  }
  return {};
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
    if (header.p_type == type && fits(header.p_offset, header.p_filesz, file_size_))
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

Result<std::vector<ElfSymbol>> ElfReader::symbols() const {
  std::vector<ElfSymbol> symbols;
  for (const std::size_t wanted : {SHT_DYNSYM, SHT_SYMTAB}) {
    auto* section = find_section([&](auto, std::size_t type) { return type == wanted; });
    if (section == nullptr)
      continue;
    if (auto done = add_symbols(section, symbols); !done)
      return forward(std::move(done));
  }
  return symbols;
}

Result<void> ElfReader::add_symbols(Elf_Scn* section, std::vector<ElfSymbol>& symbols) const {
  GElf_Shdr header;
  auto* data = elf_getdata(section, nullptr);
  if (gelf_getshdr(section, &header) == nullptr || data == nullptr)
    return corrupt(fmt::format("the symbol table in section {} cannot be read: {}",
                               elf_ndxscn(section), elf_errmsg(-1)));
  const auto entry_size = gelf_fsize(elf_.get(), ELF_T_SYM, 1, EV_CURRENT);
  const auto count = data->d_size / entry_size;
  // ARM and MIPS mark functions of their compact instruction sets with the lowest bit of the
  // address.
  const bool marked = platform_.architecture == "arm" || platform_.architecture.starts_with("mips");
  for (std::size_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr)
      return corrupt(fmt::format("symbol {} cannot be read", i));
    if (!has_address(symbol))
      continue;
    const char* name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
    if (name == nullptr)
      return corrupt(fmt::format("the name of symbol {} lies outside of its string table", i));
    if (*name == '\0')
      continue;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    const auto binding = GELF_ST_BIND(symbol.st_info);
    symbols.push_back(
        {.name = name,
         .address = {function && marked ? symbol.st_value & ~std::uint64_t{1} : symbol.st_value},
         .size = symbol.st_size,
         .is_function = function,
         .is_local = binding == STB_LOCAL,
         .is_weak = binding == STB_WEAK});
  }
  return {};
}

std::string ElfReader::build_id() const {
  std::string found;
  Elf_Scn* section = nullptr;
  while (found.empty() && (section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_NOTE)
      found = build_id_in(elf_getdata(section, nullptr));
  }
  std::size_t count = 0;
  elf_getphdrnum(elf_.get(), &count);
  for (std::size_t i = 0; found.empty() && i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) == nullptr)
      break;
    if (header.p_type != PT_NOTE || !fits(header.p_offset, header.p_filesz, file_size_))
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
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag != DT_SONAME && entry.d_tag != DT_NEEDED)
      continue;
    const char* text = elf_strptr(elf_.get(), header.sh_link, entry.d_un.d_val);
    if (text == nullptr)
      return corrupt(fmt::format("dynamic entry {} names no string of its table", i));
    if (entry.d_tag == DT_SONAME)
      dynamic.soname = text;
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
  GElf_Chdr header;
  // Sections that are not compressed have no such header.
  if (section == nullptr || gelf_getchdr(section, &header) == nullptr ||
      header.ch_type == ELFCOMPRESS_ZLIB)
    return {};
  constexpr unsigned zstd = 2; // ELFCOMPRESS_ZSTD, which glibc's <elf.h> does not have yet
  return header.ch_type == zstd ? "zstd" : fmt::format("type {}", header.ch_type);
}

std::optional<std::string> ElfReader::section_bytes(std::string_view name) const {
  auto* section = find_section([&](std::string_view section_name, std::size_t type) {
    return section_name == name && type != SHT_NOBITS;
  });
  auto* data = section == nullptr ? nullptr : elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr)
    return std::nullopt;
  return std::string(static_cast<const char*>(data->d_buf), data->d_size);
}

} // namespace mqbridge
