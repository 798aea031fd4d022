#include "host/mpi/openmpi/type_carrier.h"

#include "host/codes.h"
#include "host/disk/output_file.h"
#include "host/elf/elf_reader.h"
#include "host/mpi/openmpi/openmpi_carrier.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/mpi/openmpi/pack_maker.h"
#include "host/types/dwarf_types.h"

#include <fmt/format.h>

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

Result<void> make_pack_file(const CarrierRequest& request, const openmpi::Headers& headers) {
  auto library = request.library ? Result<std::filesystem::path>(*request.library)
                                 : openmpi::find_library(headers);
  if (!library)
    return forward(std::move(library));
  auto libraries = openmpi::open_libraries(*library);
  if (!libraries)
    return forward(std::move(libraries));
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  const auto carrier = directory->path() / "carrier.so";
  if (auto done = openmpi::compile_carrier(request.compiler, headers, carrier); !done)
    return done;
  auto types = read_carrier(carrier, request.indexer);
  if (!types)
    return forward(std::move(types));
  auto pack = openmpi::make_pack(*types->source, *libraries);
  if (!pack)
    return forward(std::move(pack));
  return write_file(request.output, write_type_pack(*pack));
}

} // namespace

Result<void> make_type_carrier(const CarrierRequest& request) {
  if (request.mpi != "openmpi") {
    return fail(
        codes::types_unknown_mpi,
        fmt::format("no type carrier can be made for '{}': only openmpi is known", request.mpi),
        "mqbridge types make --mpi openmpi -o FILE");
  }
  auto headers = openmpi::find_headers(request.include_directories, request.compiler);
  if (!headers)
    return forward(std::move(headers));
  if (request.output.extension() == ".types")
    return make_pack_file(request, *headers);
  return openmpi::compile_carrier(request.compiler, *headers, request.output);
}

const std::vector<std::string>& needed_types(std::string_view mpi) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> open_mpi(openmpi::needed_types().begin(),
                                                 openmpi::needed_types().end());
  return mpi == "openmpi" ? open_mpi : none;
}

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
  TypesFile types{nullptr, pack->architecture, pack->byte_order, pack->pointer_size,
                  pack->build_id};
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
