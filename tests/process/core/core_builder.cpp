#include "tests/process/core/core_builder.h"

namespace mqbridge::test {
namespace {

/// `text` and zeros, together `size` bytes.
std::string filled(std::string_view text, std::size_t size) {
  std::string bytes(text);
  bytes.resize(size);
  return bytes;
}

} // namespace

CoreBuilder& CoreBuilder::segment(std::uint64_t address, std::string contents,
                                  std::uint64_t memory_size, std::uint32_t flags) {
  const auto size = memory_size == 0 ? contents.size() : memory_size;
  segments_.push_back({PT_LOAD, flags, address, size, segment_alignment, std::move(contents)});
  return *this;
}

CoreBuilder& CoreBuilder::note(std::string_view owner, std::uint32_t type, std::string contents) {
  ByteWriter out(shape_.byte_order);
  out.number(owner.size() + 1, 4).number(contents.size(), 4).number(type, 4).text(owner);
  out.align(note_alignment_).raw(contents).align(note_alignment_);
  notes_ += out.bytes();
  return *this;
}

CoreBuilder& CoreBuilder::thread(std::int32_t tid, std::int16_t signal,
                                 std::string_view registers) {
  const bool wide = shape_.is_64;
  ByteWriter out(shape_.byte_order);
  out.raw(std::string(12, '\0')).number(static_cast<std::uint16_t>(signal), 2);
  out.raw(filled("", (wide ? 32 : 24) - out.size()));
  out.number(static_cast<std::uint32_t>(tid), 4);
  out.raw(filled("", (wide ? 112 : 72) - out.size())).raw(registers);
  out.number(1, 4).align(word()); // pr_fpvalid
  return note("CORE", NT_PRSTATUS, out.bytes());
}

CoreBuilder& CoreBuilder::process(std::int32_t pid, std::string_view name,
                                  std::string_view arguments) {
  ByteWriter out(shape_.byte_order);
  out.raw(filled("", shape_.is_64 ? 24 : 12)).number(static_cast<std::uint32_t>(pid), 4);
  out.raw(filled("", 12)).raw(filled(name, 16)).raw(filled(arguments, 80));
  return note("CORE", NT_PRPSINFO, out.bytes());
}

CoreBuilder&
CoreBuilder::auxv(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries) {
  ByteWriter out(shape_.byte_order);
  for (const auto& [type, value] : entries)
    out.number(type, word()).number(value, word());
  return note("CORE", NT_AUXV, out.number(AT_NULL, word()).number(0, word()).bytes());
}

CoreBuilder& CoreBuilder::mappings(std::uint64_t unit, const std::vector<Mapping>& mappings) {
  ByteWriter out(shape_.byte_order);
  out.number(mappings.size(), word()).number(unit, word());
  for (const auto& mapping : mappings)
    out.number(mapping.first, word()).number(mapping.end, word()).number(mapping.offset, word());
  for (const auto& mapping : mappings)
    out.text(mapping.name);
  return note("CORE", NT_FILE, out.bytes());
}

void CoreBuilder::put_header(ByteWriter& out, std::size_t segments,
                             std::uint64_t section_header) const {
  out.raw(std::string_view(ELFMAG, SELFMAG)).number(shape_.is_64 ? ELFCLASS64 : ELFCLASS32, 1);
  out.number(shape_.byte_order == ByteOrder::big ? ELFDATA2MSB : ELFDATA2LSB, 1).number(1, 1);
  out.raw(filled("", EI_NIDENT - out.size()));
  out.number(ET_CORE, 2).number(shape_.machine, 2).number(1, 4).number(0, word());
  out.number(header_size(), word()).number(count_in_section_header_ ? section_header : 0, word());
  out.number(0, 4).number(header_size(), 2).number(entry_size(), 2);
  out.number(count_in_section_header_ ? PN_XNUM : segments, 2);
  out.number(shape_.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
  out.number(count_in_section_header_ ? 1 : 0, 2).number(0, 2);
}

void CoreBuilder::put_entry(ByteWriter& out, const Segment& segment, std::uint64_t offset) const {
  out.number(segment.type, 4);
  if (shape_.is_64)
    out.number(segment.flags, 4);
  out.number(offset, word()).number(segment.address, word()).number(0, word());
  out.number(segment.contents.size(), word()).number(segment.memory_size, word());
  if (!shape_.is_64)
    out.number(segment.flags, 4);
  out.number(segment.alignment, word());
}

std::string CoreBuilder::bytes() const {
  auto segments = segments_;
  const auto place = notes_last_ ? segments.end() : segments.begin();
  segments.insert(place, {PT_NOTE, 0, 0, 0, note_alignment_, notes_});
  auto offset = header_size() + segments.size() * entry_size();
  ByteWriter entries(shape_.byte_order);
  std::string contents;
  for (const auto& segment : segments) {
    if (segment.type == PT_LOAD)
      contents.resize(contents.size() +
                      (segment.address - offset - contents.size()) % segment.alignment);
    put_entry(entries, segment, offset + contents.size());
    contents += segment.contents;
  }
  ByteWriter out(shape_.byte_order);
  put_header(out, segments.size(), offset + contents.size());
  out.raw(entries.bytes()).raw(contents);
  if (!count_in_section_header_)
    return out.bytes();
  // sh_info is what counts: behind name, type and six words or so, the same way in both classes.
  const auto info = shape_.is_64 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info);
  const auto size = shape_.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  ByteWriter section(shape_.byte_order);
  section.raw(filled("", info)).number(segments.size(), 4).raw(filled("", size - info - 4));
  return out.raw(section.bytes()).bytes();
}

} // namespace mqbridge::test
