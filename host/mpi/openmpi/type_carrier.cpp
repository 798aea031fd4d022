#include "host/mpi/openmpi/type_carrier.h"

#include "host/codes.h"
#include "host/disk/output_file.h"
#include "host/mpi/openmpi/openmpi_carrier.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/mpi/openmpi/pack_maker.h"
#include "host/types/types_file.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

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
  auto types = read_types_file(carrier, request.indexer);
  if (!types)
    return forward(std::move(types));
  auto pack = openmpi::make_pack(*types->source, *libraries, request.source.has_value());
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
  if (request.source) {
    if (auto done = openmpi::check_source(*request.source, *headers); !done)
      return done;
    headers->source = request.source;
  }
  if (request.output.extension() == ".types")
    return make_pack_file(request, *headers);
  return openmpi::compile_carrier(request.compiler, *headers, request.output);
}

} // namespace mqbridge
