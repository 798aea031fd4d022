#include "host/mpi/openmpi/make_carrier.h"

#include "host/disk/output_file.h"
#include "host/elf/elf_file.h"
#include "host/mpi/openmpi/openmpi_carrier.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/mpi/openmpi/pack_maker.h"
#include "host/mpi/openmpi/types_check.h"
#include "host/types/types_file.h"

#include <fmt/format.h>

namespace mqbridge::openmpi {
namespace {

Result<TypePack> pack_of(const CarrierRequest& request, const Headers& headers,
                         const TypesFile& types) {
  if (headers.source_alone && !request.library)
    return make_pack_of_version(types, source_version(*headers.source));
  auto library =
      request.library ? Result<std::filesystem::path>(*request.library) : find_library(headers);
  if (!library)
    return forward(std::move(library));
  const auto libraries = open_libraries(*library);
  if (!libraries)
    return Failure(libraries.error());
  return make_pack(*types.source, *libraries, request.source.has_value());
}

Result<void> make_pack_file(const CarrierRequest& request, const Headers& headers) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  const auto carrier = directory->path() / "carrier.so";
  if (auto done = compile_carrier(request.compiler, headers, carrier); !done)
    return done;
  const auto types = read_types_file(carrier, request.indexer);
  if (!types)
    return Failure(types.error());
  auto pack = pack_of(request, headers, *types);
  if (!pack)
    return forward(std::move(pack));
  return write_file(request.output, write_type_pack(*pack));
}

Result<std::filesystem::path> installed_libmpi() {
  auto headers = find_headers({}, {"cc"});
  if (!headers)
    return fail("types.no_library", "no installed MPI library was found",
                "name it: --library /path/of/libmpi.so.40");
  return find_library(*headers);
}

void add_comparison(TypesFileCheck& check, const TypeComparison& comparison) {
  check.fit = check.fit && comparison.fits();
  check.compared += comparison.compared;
  for (const auto& mismatch : comparison.mismatches)
    check.faults.push_back("differs: " + mismatch);
  for (const auto& missing : comparison.missing)
    check.faults.push_back("not there: " + missing);
  for (const auto& unstated : comparison.unstated)
    check.faults.push_back(
        fmt::format("not compared: {}: no mca_pml_ob1.so beside the library", unstated));
}

} // namespace

bool is_this_machine(const Platform& platform) {
  const auto ours = read_elf_platform("/proc/self/exe");
  return ours && ours->architecture == platform.architecture;
}

std::string carrier_line(const Platform& platform, std::string_view more) {
  return fmt::format(
      "mqbridge types make --mpi openmpi {}{}-o ompi.types.so    then: --types ompi.types.so",
      is_this_machine(platform) ? "" : "--cc CROSS-COMPILER --include DIR ", more);
}

Result<void> make_carrier(const CarrierRequest& request) {
  auto headers = request.source ? find_headers_with(*request.source, request.include_directories,
                                                    request.compiler)
                                : find_headers(request.include_directories, request.compiler);
  if (!headers)
    return forward(std::move(headers));
  if (request.output.extension() == ".types")
    return make_pack_file(request, *headers);
  return compile_carrier(request.compiler, *headers, request.output);
}

Result<TypesFileCheck> check_carrier(TypeSource& types,
                                     const std::optional<std::filesystem::path>& library) {
  auto libmpi = library ? Result<std::filesystem::path>(*library) : installed_libmpi();
  if (!libmpi)
    return forward(std::move(libmpi));
  const auto libraries = open_libraries(*libmpi);
  if (!libraries)
    return Failure(libraries.error());
  const auto comparison = check_types(types, *libraries);
  if (!comparison)
    return Failure(comparison.error());
  const auto ob1 = types.find("mca_pml_ob1_comm_t");
  if (!ob1)
    return Failure(ob1.error());
  TypesFileCheck check;
  check.library = std::move(*libmpi);
  add_comparison(check, *comparison);
  if (*ob1 == nullptr) {
    check.lacking = "the types of ob1";
  } else {
    const auto of_ob1 = check_ob1_types(types, *libraries);
    if (!of_ob1)
      return Failure(of_ob1.error());
    add_comparison(check, *of_ob1);
  }
  check.make_line = fmt::format("mqbridge types make --mpi openmpi {}-o ompi.types",
                                *ob1 == nullptr ? "" : "--source DIR ");
  return check;
}

} // namespace mqbridge::openmpi
