#pragma once

#include "host/dump/document.h"
#include "host/dump/take_dump.h"
#include "host/mpi/mpi_library.h"
#include "host/process/stopped_process.h"
#include "host/stacks/capture.h"
#include "host/stacks/unwind.h"

#include <chrono>
#include <optional>
#include <vector>

namespace mqbridge {

/// The call stacks of one rank, in two steps: what has to be read while its process stands still,
/// and what is made of it afterwards. One thread.
class RankStacks {
public:
  /// `names`: see SharedTools.
  RankStacks(const DumpOptions& options, FrameNames* names) : options_(options), names_(names) {}

  /// Reads registers and stacks, anew each time. `held`: for so long the process stands still by
  /// now. Errors: those of capture_stacks(); then nothing is captured.
  Result<void> capture(StoppedProcess& process, const MpiLibrary& mpi,
                       std::chrono::steady_clock::duration held,
                       std::optional<std::chrono::steady_clock::time_point> deadline);
  bool captured() const { return captured_.has_value(); }
  /// The process was not what it seemed while they were read.
  void forget() { captured_.reset(); }

  /// Unwinds what was captured, if anything was, names the call sites that a recorder knows, and
  /// says what each thread is in: fills stacks and blocked_in of the dump. `recorded`:
  /// UnshownOutcome::calls. The process runs on by then; of it nothing but its files is used.
  /// Errors: those of unwind(), and that the unwinder came to no end (stacks.crashed,
  /// stacks.timeout, stacks.protocol); the dump has what was unwound until then, or none.
  Result<void> unwind(StoppedProcess& process, const MpiLibrary& mpi,
                      std::vector<BlockedCall> recorded, RankDump& dump, Warnings& warnings);

private:
  Result<std::vector<UnwoundThread>> unwind_all(StoppedProcess& process,
                                                const std::vector<SharedSite>& sites,
                                                Warnings& warnings) const;
  Result<std::vector<UnwoundThread>> unwind_all(StoppedProcess& process, const RankDump& dump,
                                                const std::vector<BlockedCall>& recorded,
                                                Warnings& of_unwinding, Warnings& warnings) const;
  std::vector<BlockedCall> calls_of_stacks(std::vector<UnwoundThread>& threads,
                                           const StoppedProcess& process, const MpiLibrary& mpi,
                                           const RankDump& dump) const;
  /// What was captured; nothing where it was not.
  const CapturedStacks& captured_stacks() const;

  const DumpOptions& options_;
  FrameNames* names_;
  std::optional<CapturedStacks> captured_;
};

} // namespace mqbridge
