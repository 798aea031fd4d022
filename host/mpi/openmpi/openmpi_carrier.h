#pragma once

#include "host/mpi/openmpi/openmpi_files.h"
#include "rsp/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// C source that makes a compiler describe every needed type, the types of all classes that the
/// same headers declare, and those of ob1_types() that they declare; `with_ob1`: all of these,
/// which takes Open MPI's own source.
std::string carrier_source(bool with_ob1);

/// Compiles it to the shared object `output`, with the types of ob1 if `headers` has a source.
/// Needs no libc of the target, only its headers.
/// Errors: types.compile (with the compiler's own words), command.start, output.write.
Result<void> compile_carrier(const std::vector<std::string>& compiler, const Headers& headers,
                             const std::filesystem::path& output);

} // namespace mqbridge::openmpi
