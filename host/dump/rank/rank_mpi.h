#pragma once

#include "host/dump/take_dump.h"
#include "host/dump/values/document.h"
#include "host/mpi/mpi_library.h"
#include "host/process/stopped_process.h"
#include "rsp/result.h"

#include <functional>
#include <optional>
#include <string>

namespace mqbridge {

/// Learns, step by step, which MPI a stopped process runs, and the facts that its debug DLL will
/// need: fills `mpi` of the dump. Faults that do not end the work go into `warnings`. References
/// outlive it; one thread.
class RankMpi {
public:
  RankMpi(const DumpOptions& options, StoppedProcess& process, RankDump& dump, Warnings& warnings)
      : options_(options), process_(process), dump_(dump), warnings_(warnings) {}

  /// `entry_hint`: why there may be nothing to see in the process yet. Errors: those of
  /// StoppedProcess::load_images and identify_mpi, mpi.not_found, mpi.launcher.
  Result<void> identify(const std::optional<std::string>& entry_hint);
  /// Has MPI_Init returned, and MPI_Finalize not yet? Without both there are no queues.
  bool has_queues() const;
  /// Finds the types that the debug DLL needs. Errors: those of select_types.
  Result<void> find_types();
  /// Finds the MPI's own types, whoever shows its queues. Under a recorder, which needs none, this
  /// fetches no debug information. Errors: likewise.
  Result<void> find_types_of_mpi();
  /// Errors: those of Memory.
  Result<void> read_transport();

  /// For verdicts from the calls alone. Errors: those of Memory.
  Result<void> read_waits_state();

  const MpiLibrary& library() const { return library_; }
  /// Lines that say how to see the job's queues if its MPI has no debug DLL at all (dll.not_found).
  /// Empty: there is a DLL somewhere else.
  std::string hint_without_dll() const;
  /// How to run the job with a recorder.
  std::string recorder_hint() const;

  /// The warning that the DLL does not see the transport's queues (transport.bypasses), unless they
  /// are found otherwise. nullopt: it sees them.
  const std::optional<Error>& bypass() const { return bypass_; }

private:
  bool starts_jobs() const;
  std::string launcher_name() const;
  Result<void> find_types(const MpiLibrary& library,
                          const std::function<bool()>& find_debug_information);
  Result<void> read_state(const std::optional<std::string>& entry_hint);

  const DumpOptions& options_;
  StoppedProcess& process_;
  RankDump& dump_;
  Warnings& warnings_;
  MpiLibrary library_;
  std::optional<Error> bypass_;
};

} // namespace mqbridge
