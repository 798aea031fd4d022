#include "host/types/types_file.h"

#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/types/dwarf_types.h"
#include "host/types/type_pack.h"

namespace mqbridge {
namespace {

Result<TypesFile> read_carrier(const std::filesystem::path& path, IndexerOptions indexer) {
  auto file = ElfFile::open(path);
  if (!file)
    return forward(std::move(file));
  auto types = open_dwarf_types(*file, {}, std::move(indexer));
  if (!types)
    return forward(std::move(types));
  const auto& platform = (*file)->platform();
  return TypesFile{std::move(*types), platform.architecture, platform.byte_order,
                   platform.pointer_size};
}

} // namespace

bool TypesFile::is_for(const Platform& platform) const {
  return architecture == platform.architecture && byte_order == platform.byte_order &&
         pointer_size == platform.pointer_size;
}

Result<TypesFile> read_types_file(const std::filesystem::path& path, IndexerOptions indexer) {
  auto fd = open_regular_file(path);
  if (!fd)
    return forward(std::move(fd));
  if (is_elf(*fd))
    return read_carrier(path, std::move(indexer));
  auto pack = read_type_pack(path);
  if (!pack)
    return forward(std::move(pack));
  TypesFile types{nullptr, pack->architecture, pack->byte_order, pack->pointer_size};
  types.source = type_source(std::move(*pack));
  return types;
}

Result<std::shared_ptr<TypeSource>> open_types_file(const std::filesystem::path& path,
                                                    IndexerOptions indexer) {
  auto types = read_types_file(path, std::move(indexer));
  if (!types)
    return forward(std::move(types));
  return std::move(types->source);
}

} // namespace mqbridge
