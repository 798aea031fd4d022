#pragma once

#include "tests/e2e/harness/mpi_job.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// For MQBRIDGE_SKIP_IF_LACKING: MPICH with its debug DLL, made by `./dev targets mpich`.
std::string lacking_mpich();

/// A job of `ranks` processes of an inferior, compiled by that MPICH's mpicc and started by its
/// mpiexec (hydra). Throws as program_for (target_programs.h).
JobSpec mpich_job(const std::string& inferior, const std::vector<std::string>& arguments,
                  int ranks = 2);

/// How to start one process of it without mpiexec, for SingleProcess.
test::ChildSpec mpich_singleton(const std::string& inferior, const std::filesystem::path& directory,
                                const std::vector<std::string>& arguments);

/// The library that such a process loads: MPICH's own, or Debian's, which is built without
/// --enable-debuginfo.
std::filesystem::path mpich_library();
std::filesystem::path debian_mpich_library();

/// mpich_singleton() with another library: libmpi.so.12 of the directory `libraries`.
test::ChildSpec mpich_singleton_with(const std::filesystem::path& libraries,
                                     const std::string& inferior,
                                     const std::filesystem::path& directory,
                                     const std::vector<std::string>& arguments);

/// A job of Debian's MPICH, started by its mpiexec.hydra, which knows no queues. `inferior`:
/// oracle_poster, mpi_calls, ring_deadlock.
JobSpec debian_mpich_job(const std::string& inferior, const std::vector<std::string>& arguments,
                         int ranks = 2);

/// The same for MQBRIDGE_SKIP_IF_LACKING.
std::string lacking_debian_mpich();

/// What a dump needs beside the targets: --dll where the debug DLL does not lie in a directory that
/// root alone can write, nothing else.
std::vector<std::string> mpich_options();

} // namespace mqbridge::e2e
