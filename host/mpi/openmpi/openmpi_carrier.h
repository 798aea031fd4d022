#pragma once

#include "host/mpi/openmpi/openmpi_files.h"
#include "rsp/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

struct CarrierParts {
  bool ob1 = false;  ///< all of ob1_types(), which takes Open MPI's own source
  bool tools = true; ///< those types of tool_types() whose headers are installed
};

/// C source that makes a compiler describe all needed_types(), the types of all classes that the
/// same headers declare, the ob1_types() whose headers are installed, and the types that `parts`
/// adds.
std::string carrier_source(const CarrierParts& parts);

/// Compiles it to the shared object `output`, with the types of ob1 if `headers` has a source, and
/// without tool_types() if the compiler cannot take their headers. Needs no libc of the target,
/// only its headers. Errors: types.compile (with the compiler's own words), command.start,
/// output.write.
Result<void> compile_carrier(const std::vector<std::string>& compiler, const Headers& headers,
                             const std::filesystem::path& output);

} // namespace mqbridge::openmpi
