#pragma once

#include "rsp/result.h"

#include <filesystem>

namespace mqbridge::openmpi {

/// Writes into `directory` what stands in for the headers that Open MPI's configure makes
/// (opal_config.h, mpi.h, PMIx's), so that the headers of an unpacked source compile. It says what
/// configure finds by default on Linux with GCC or clang, as far as layouts or the compiler's
/// success depend on it. Options that change layouts (`--enable-debug`, `--enable-heterogeneous`,
/// CUDA) can be given to the compiler: `--cc "gcc -DOPAL_ENABLE_DEBUG=1"`. Error: output.write.
Result<void> write_configured_headers(const std::filesystem::path& directory);

} // namespace mqbridge::openmpi
