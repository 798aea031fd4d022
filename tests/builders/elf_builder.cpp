#include "tests/builders/elf_builder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>

namespace mqbridge::test {
namespace {

constexpr std::uint64_t program_headers = 2;

} // namespace

ElfBuilder::ElfBuilder(const ElfShape& shape)
    : shape_(shape), end_(shape.is_64 ? 64 + program_headers * 56 : 52 + program_headers * 32) {
  sections_.push_back({}); // index 0
}

FileAddress ElfBuilder::add_section(std::string_view name, std::uint32_t type, std::string contents,
                                    std::uint32_t link, std::uint64_t entry_size) {
  end_ = (end_ + 7) / 8 * 8;
  const auto offset = end_;
  end_ += type == SHT_NOBITS ? 0 : contents.size();
  sections_.push_back({std::string(name), type, std::move(contents), link, entry_size, offset});
  return {base + offset};
}

FileAddress ElfBuilder::add_word(std::uint64_t value) {
  return add_data(writer().number(value, word()).bytes());
}

void ElfBuilder::add_symbols(std::uint32_t table, const std::vector<BuiltSymbol>& symbols) {
  auto names = writer();
  auto entries = writer();
  names.text("");
  const std::size_t entry_size = shape_.is_64 ? 24 : 16;
  entries.raw(std::string(entry_size, '\0'));
  for (const auto& symbol : symbols) {
    const auto info = static_cast<unsigned char>(symbol.binding << 4 | symbol.type);
    entries.number(names.size(), 4);
    if (shape_.is_64)
      entries.number(info, 1).number(0, 1).number(symbol.section, 2);
    entries.number(symbol.value, word()).number(symbol.size, word());
    if (!shape_.is_64)
      entries.number(info, 1).number(0, 1).number(symbol.section, 2);
    names.text(symbol.name);
  }
  const bool dynamic = table == SHT_DYNSYM;
  add_section(dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, names.bytes());
  add_section(dynamic ? ".dynsym" : ".symtab", table, entries.bytes(),
              static_cast<std::uint32_t>(sections_.size() - 1), entry_size);
}

void ElfBuilder::add_build_id(std::string_view bytes) {
  auto note = writer();
  note.number(4, 4).number(bytes.size(), 4).number(NT_GNU_BUILD_ID, 4).text("GNU").raw(bytes);
  add_section(".note.gnu.build-id", SHT_NOTE, note.align(4).bytes());
}

void ElfBuilder::add_debug_link(std::string_view file, std::uint32_t crc) {
  add_section(".gnu_debuglink", SHT_PROGBITS, writer().text(file).align(4).number(crc, 4).bytes());
}

void ElfBuilder::add_dynamic(const std::vector<std::pair<std::int64_t, std::string>>& entries) {
  auto names = writer();
  auto table = writer();
  names.text("");
  for (const auto& [tag, text] : entries) {
    table.number(static_cast<std::uint64_t>(tag), word()).number(names.size(), word());
    names.text(text);
  }
  table.number(DT_NULL, word()).number(0, word());
  add_section(".dynstr", SHT_STRTAB, names.bytes());
  add_section(".dynamic", SHT_DYNAMIC, table.bytes(),
              static_cast<std::uint32_t>(sections_.size() - 1), 2 * word());
}

void ElfBuilder::put_header(ByteWriter& out, std::uint64_t section_headers) const {
  const bool wide = shape_.is_64;
  out.raw(ELFMAG).number(wide ? ELFCLASS64 : ELFCLASS32, 1);
  out.number(shape_.byte_order == ByteOrder::little ? ELFDATA2LSB : ELFDATA2MSB, 1);
  out.number(EV_CURRENT, 1).raw(std::string(9, '\0'));
  out.number(ET_DYN, 2).number(shape_.machine, 2).number(EV_CURRENT, 4);
  const std::uint64_t header = wide ? 64 : 52;
  out.number(base + 0x40, word()).number(header, word()).number(section_headers, word());
  out.number(0, 4).number(header, 2).number(wide ? 56 : 32, 2).number(program_headers, 2);
  out.number(wide ? 64 : 40, 2).number(sections_.size() + 1, 2).number(sections_.size(), 2);
}

void ElfBuilder::put_program_header(ByteWriter& out, std::uint32_t type, std::uint64_t offset,
                                    std::uint64_t size) const {
  out.number(type, 4);
  if (shape_.is_64)
    out.number(PF_R, 4);
  out.number(offset, word()).number(base + offset, word()).number(base + offset, word());
  out.number(size, word()).number(size, word());
  if (!shape_.is_64)
    out.number(PF_R, 4);
  out.number(8, word());
}

void ElfBuilder::put_section_header(ByteWriter& out, const Section& section,
                                    std::uint64_t name) const {
  const bool loaded = section.type != SHT_NULL;
  out.number(name, 4).number(section.type, 4).number(loaded ? SHF_ALLOC : 0, word());
  out.number(loaded ? base + section.offset : 0, word()).number(section.offset, word());
  out.number(section.contents.size(), word()).number(section.link, 4).number(0, 4);
  out.number(loaded ? 4 : 0, word()).number(section.entry_size, word());
}

std::string ElfBuilder::bytes() const {
  auto sections = sections_;
  auto names = writer();
  std::vector<std::uint64_t> name_offsets;
  for (const auto& section : sections) {
    name_offsets.push_back(names.size());
    names.text(section.name);
  }
  name_offsets.push_back(names.size());
  names.text(".shstrtab");
  const auto names_at = (end_ + 7) / 8 * 8;
  sections.push_back({".shstrtab", SHT_STRTAB, names.bytes(), 0, 0, names_at});
  const auto headers_at = (names_at + names.size() + 7) / 8 * 8;

  auto out = writer();
  put_header(out, headers_at);
  const std::uint64_t header = out.size();
  put_program_header(out, PT_PHDR, header, program_headers * (shape_.is_64 ? 56 : 32));
  put_program_header(out, PT_LOAD, 0, headers_at);
  for (const auto& section : sections) {
    if (section.type == SHT_NULL || section.type == SHT_NOBITS)
      continue;
    out.align(8).raw(section.contents);
  }
  out.align(8);
  for (std::size_t i = 0; i < sections.size(); ++i)
    put_section_header(out, sections[i], name_offsets[i]);
  return out.bytes();
}

void ElfBuilder::write(const std::filesystem::path& path) const {
  std::filesystem::create_directories(path.parent_path());
  const auto contents = bytes();
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

TestDirectory::TestDirectory() {
  std::string pattern = testing::TempDir() + "mqbridge-image-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("mkdtemp " + pattern);
  path_ = std::filesystem::canonical(pattern);
}

TestDirectory::~TestDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::filesystem::path TestDirectory::write(std::string_view name, std::string_view contents) const {
  const auto path = path_ / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  return path;
}

void overwrite(const std::filesystem::path& path, std::size_t at, char value) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(value);
}

} // namespace mqbridge::test
