#include "host/process/link_map.h"

#include "host/limits.h"
#include "host/process/memory_image.h"
#include "rsp/commands/xml.h"

#include <algorithm>
#include <elf.h>
#include <fmt/format.h>
#include <pugixml.hpp>

namespace mqbridge {
namespace {

Failure corrupt(std::string what) {
  return fail(
      "libraries.corrupt", std::move(what),
      "the process may not have reached main yet, or its memory is damaged; record the packets "
      "with --trace FILE");
}

/// The bias by the segment that holds the program headers. They stand right behind the ELF header,
/// wherever a linker has written them.
std::optional<LoadBias> bias_by_segment(std::span<const ProgramHeader> headers, std::uint64_t table,
                                        std::uint64_t table_offset, const Platform& platform) {
  for (const auto& header : headers) {
    const bool holds = header.type == PT_LOAD && header.offset <= table_offset &&
                       table_offset - header.offset < header.file_size;
    if (holds)
      return LoadBias{table - (header.address.value + (table_offset - header.offset)),
                      platform.last_address()};
  }
  return std::nullopt;
}

} // namespace

Result<ExecutableHeaders> read_executable_headers(Memory& memory, const Platform& platform,
                                                  const AuxiliaryVector& auxv) {
  const auto table = auxv.find(AT_PHDR);
  const auto count = auxv.find(AT_PHNUM);
  if (!table || !count)
    return fail("image.no_headers",
                "the auxiliary vector does not say where the program headers are",
                "is the target a Linux process? of another, name the files: --image FILE[@BIAS]");
  auto headers = read_program_headers(memory, platform, {*table}, *count);
  if (!headers)
    return forward(std::move(headers));

  const auto table_offset = platform.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  ExecutableHeaders found;
  found.elf_header = {*table - table_offset};
  found.bias = bias_by_segment(*headers, *table, table_offset, platform).value_or(found.bias);
  for (const auto& header : *headers) {
    if (header.type == PT_PHDR)
      found.bias = {*table - header.address.value, platform.last_address()};
    found.has_interpreter |= header.type == PT_INTERP;
  }
  const auto dynamic = std::find_if(headers->begin(), headers->end(),
                                    [](const auto& header) { return header.type == PT_DYNAMIC; });
  if (dynamic != headers->end()) {
    found.dynamic = found.bias(dynamic->address);
    found.dynamic_size = dynamic->memory_size;
  }
  return found;
}

Result<std::vector<LoadedObject>> parse_libraries_svr4(std::string_view xml,
                                                       std::uint64_t last_address) {
  pugi::xml_document document;
  const std::string fault = rsp::load_xml(document, xml);
  const auto list = document.child("library-list-svr4");
  if (!fault.empty() || !list)
    return corrupt(fmt::format("the stub's list of libraries is not the XML it should be: {}",
                               fault.empty() ? "no library-list-svr4" : fault));
  std::vector<LoadedObject> objects;
  for (const auto library : list.children("library")) {
    if (objects.size() == limits::loaded_objects)
      return corrupt(fmt::format("the stub lists more than {} libraries", limits::loaded_objects));
    const auto bias = library.attribute("l_addr");
    if (!bias)
      return corrupt("the stub lists a library without l_addr");
    const std::string_view name = library.attribute("name").value();
    if (name.size() > limits::path)
      return corrupt(fmt::format("the stub lists a library with a name of {} bytes", name.size()));
    objects.push_back({std::string(name), {bias.as_ullong(), last_address}});
  }
  return objects;
}

} // namespace mqbridge
