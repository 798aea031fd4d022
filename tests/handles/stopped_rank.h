#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/handles/told_handles.h"
#include "tests/mqs/process_memory.h"

#include <string>
#include <sys/types.h>

namespace mqbridge {

/// One process of a job of this machine, which stands still meanwhile.
class StoppedRank {
public:
  /// With the types of a pack; empty: those of its own DWARF alone.
  StoppedRank(pid_t pid, const Platform& platform, const std::string& pack);
  ~StoppedRank();
  StoppedRank(const StoppedRank&) = delete;
  StoppedRank& operator=(const StoppedRank&) = delete;

  AddressSpace space() { return {images_, memory_, platform_}; }

private:
  pid_t pid_;
  ProcessMemory memory_;
  Platform platform_;
  ImageSet images_;
};

Platform x86_64();
Platform i386();

/// Of a key of HandleFacts.
std::string kind_of(const std::string& handle);
std::uint64_t handle_of(const std::string& handle);

/// Has each key that the program knows to be told, or only to be right where it is?
enum class Told { all, nothing_wrong };

/// What is told has to be what the program says; and all handles of Fortran stand for those of C.
void expect_told(ToldHandles& told, const HandleFacts& made, Told how_much = Told::all);
/// Of all ranks of a job of tests/inferiors/handles.c.
void expect_told(const e2e::JobSpec& spec, const std::string& dll, const Platform& platform,
                 const std::string& pack, Told how_much = Told::all);

} // namespace mqbridge
