#include "host/target/link_map.h"

#include "host/memory/reader.h"
#include "host/target/memory_image.h"

#include <algorithm>
#include <elf.h>
#include <fmt/format.h>
#include <pugixml.hpp>
#include <set>

namespace mqbridge {
namespace {

constexpr std::size_t max_objects = 16'384;
constexpr std::size_t max_path = 4096;
constexpr std::uint64_t max_dynamic_entries = 4096;

Failure corrupt(std::string what) {
  return fail(
      "libraries.corrupt", std::move(what),
      "the process may not have reached main yet, or its memory is damaged; record the packets "
      "with --trace FILE");
}

Result<std::vector<ProgramHeader>> executable_headers(Memory& memory, const Platform& platform,
                                                      const AuxiliaryVector& auxv) {
  const auto table = auxv.find(AT_PHDR);
  const auto count = auxv.find(AT_PHNUM);
  if (!table || !count)
    return fail("image.no_headers",
                "the auxiliary vector does not say where the program headers are",
                "is the target a Linux process? others need a stub that lists their libraries");
  return read_program_headers(memory, platform, {*table}, *count);
}

/// The value of DT_DEBUG; zero if there is none, or the dynamic linker has not set it yet.
Result<TargetAddress> find_r_debug(Memory& memory, const Platform& platform,
                                   const ProgramHeader& dynamic, LoadBias bias) {
  const auto word = static_cast<std::size_t>(platform.pointer_size);
  const auto entries =
      std::min<std::uint64_t>(dynamic.memory_size / (2 * word), max_dynamic_entries);
  std::vector<std::byte> bytes(static_cast<std::size_t>(entries) * 2 * word);
  if (auto done = read_exact(memory, bias(dynamic.address), bytes); !done)
    return forward(std::move(done));
  for (std::size_t at = 0; at < bytes.size(); at += 2 * word) {
    const auto tag = decode_unsigned(std::span(bytes).subspan(at, word), platform.byte_order);
    if (tag == DT_NULL)
      break;
    if (tag == DT_DEBUG)
      return TargetAddress{
          decode_unsigned(std::span(bytes).subspan(at + word, word), platform.byte_order)};
  }
  return TargetAddress{};
}

/// One struct link_map (<link.h>): l_addr, l_name, l_ld, l_next, each a word.
struct LinkMapEntry {
  LoadBias bias;
  TargetAddress name;
  TargetAddress next;
};

Result<LinkMapEntry> read_entry(Memory& memory, const Platform& platform, TargetAddress at) {
  const auto word = static_cast<std::size_t>(platform.pointer_size);
  std::array<std::byte, 32> buffer{};
  const auto bytes = std::span(buffer).first(4 * word);
  if (auto done = read_exact(memory, at, bytes); !done)
    return forward(std::move(done));
  const auto field = [&](std::size_t i) {
    return decode_unsigned(bytes.subspan(i * word, word), platform.byte_order);
  };
  return LinkMapEntry{{field(0)}, {field(1)}, {field(3)}};
}

} // namespace

Result<LoadBias> executable_bias(Memory& memory, const Platform& platform,
                                 const AuxiliaryVector& auxv, std::optional<FileAddress> entry) {
  auto headers = executable_headers(memory, platform, auxv);
  if (!headers)
    return forward(std::move(headers));
  for (const auto& header : *headers)
    if (header.type == PT_PHDR)
      return LoadBias{*auxv.find(AT_PHDR) - header.address.value};
  const auto running_entry = auxv.find(AT_ENTRY);
  if (entry && running_entry)
    return LoadBias{*running_entry - entry->value};
  return LoadBias{0}; // no PT_PHDR: a static executable at its link address
}

Result<std::vector<LoadedObject>> parse_libraries_svr4(std::string_view xml) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(xml.data(), xml.size());
  const auto list = document.child("library-list-svr4");
  if (!parsed || !list)
    return corrupt(fmt::format("the stub's list of libraries is not the XML it should be: {}",
                               parsed ? "no library-list-svr4" : parsed.description()));
  std::vector<LoadedObject> objects;
  for (const auto library : list.children("library")) {
    if (objects.size() == max_objects)
      return corrupt(fmt::format("the stub lists more than {} libraries", max_objects));
    const auto bias = library.attribute("l_addr");
    if (!bias)
      return corrupt("the stub lists a library without l_addr");
    objects.push_back({library.attribute("name").value(), {bias.as_ullong()}});
  }
  return objects;
}

Result<std::vector<LoadedObject>> read_r_debug(Memory& memory, const Platform& platform,
                                               const AuxiliaryVector& auxv, LoadBias executable) {
  auto headers = executable_headers(memory, platform, auxv);
  if (!headers)
    return forward(std::move(headers));
  const auto dynamic = std::find_if(headers->begin(), headers->end(),
                                    [](const auto& header) { return header.type == PT_DYNAMIC; });
  if (dynamic == headers->end())
    return std::vector<LoadedObject>{};
  auto r_debug = find_r_debug(memory, platform, *dynamic, executable);
  if (!r_debug)
    return forward(std::move(r_debug));
  if (!*r_debug)
    return std::vector<LoadedObject>{};

  // struct r_debug { int r_version; struct link_map* r_map; ... }: r_map is aligned to a pointer.
  auto next =
      read_pointer(memory, platform, *r_debug + static_cast<std::uint64_t>(platform.pointer_size));
  std::vector<LoadedObject> objects;
  std::set<TargetAddress> seen;
  bool first = true; // the executable itself
  while (next && *next) {
    if (!seen.insert(*next).second || seen.size() > max_objects)
      return corrupt(fmt::format("the dynamic linker's list of libraries does not end (at {:#x})",
                                 next->value));
    auto entry = read_entry(memory, platform, *next);
    if (!entry)
      return forward(std::move(entry));
    if (!first) {
      auto name = read_string(memory, entry->name, max_path);
      objects.push_back({name ? std::move(*name) : std::string{}, entry->bias});
    }
    first = false;
    next = entry->next;
  }
  if (!next)
    return forward(std::move(next));
  return objects;
}

} // namespace mqbridge
