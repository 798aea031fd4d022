#pragma once

#include "host/disk/output_file.h"
#include "rsp/result.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge::preload {

/// A small MPI program (dll/recorder/check/posted.c), which shows what a compiler links with.
struct CheckProgram {
  TemporaryDirectory directory; ///< holds `file`
  std::filesystem::path file;
  std::filesystem::path mpi; ///< the MPI library that it runs with
};

/// The tag of the receive that the program posts, on MPI_COMM_SELF. The program is told.
inline constexpr int check_tag = 1234;

/// `compiler`: the words of an MPI's mpicc. `sources`: holds dll/recorder. Errors: command.start
/// (no such compiler), recorder.sources (they are not installed), recorder.compile, recorder.linked
/// (the compiler links its MPI statically), interrupted.
Result<CheckProgram> compile_check(const std::vector<std::string>& compiler,
                                   const std::filesystem::path& sources,
                                   const std::stop_token& stop);

/// Compiles the recorder into the new file `output`. Errors: command.start, recorder.compile,
/// interrupted.
Result<void> compile_recorder(const std::vector<std::string>& compiler,
                              const std::filesystem::path& sources,
                              const std::filesystem::path& output, const std::stop_token& stop);

} // namespace mqbridge::preload
