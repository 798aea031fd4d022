#pragma once

#include "host/dump/take_dump.h"
#include "host/dump/values/document.h"
#include "host/mpi/mpi_library.h"
#include "host/mpi/unshown.h"
#include "host/process/stopped_process.h"
#include "host/stacks/capture.h"
#include "host/stacks/unwind.h"

#include <chrono>
#include <optional>
#include <vector>

namespace mqbridge {

/// The call stacks of one rank, in two steps: reading them while the process stands still, and
/// unwinding them afterwards. One thread.
class RankStacks {
public:
  /// `names`: see SharedTools.
  RankStacks(const DumpOptions& options, FrameNames* names) : options_(options), names_(names) {}

  /// Reads registers and stacks, anew each time. `held`: how long the process has been standing
  /// still. Errors: those of capture_stacks(); then nothing is captured.
  Result<void> capture(StoppedProcess& process, const MpiLibrary& mpi,
                       std::chrono::steady_clock::duration held,
                       std::optional<std::chrono::steady_clock::time_point> deadline);
  bool captured() const { return captured_.has_value(); }
  /// What was captured of each thread's stack, from its stack pointer on.
  std::vector<StackBytes> live_bytes() const;
  /// Whether that is of each thread so much that an MPI's functions, which are innermost, lie in
  /// it.
  bool reach_mpi() const;
  /// Drops the captured stacks: the process has changed while they were read.
  void forget() { captured_.reset(); }

  /// Unwinds the captured stacks, names the call sites that a recorder knows, and works out the
  /// call of each thread: fills stacks and blocked_in of the dump. `recorded`:
  /// UnshownOutcome::calls. The process runs on by then; only its files are used. Errors: those of
  /// unwind(), and those of an unwinder that did not finish (stacks.crashed, stacks.timeout,
  /// stacks.protocol); the dump has the stacks that were unwound until then.
  Result<void> unwind(StoppedProcess& process, const MpiLibrary& mpi,
                      std::vector<BlockedCall> recorded, RankDump& dump, Warnings& warnings);

private:
  Result<std::vector<UnwoundThread>> unwind_all(StoppedProcess& process, const RankDump& dump,
                                                const std::vector<SharedSite>& sites,
                                                Warnings& warnings) const;
  Result<std::vector<UnwoundThread>> unwind_all(StoppedProcess& process, const RankDump& dump,
                                                const std::vector<BlockedCall>& recorded,
                                                Warnings& of_unwinding, Warnings& warnings) const;
  std::vector<BlockedCall> calls_of_stacks(std::vector<UnwoundThread>& threads,
                                           const StoppedProcess& process, const MpiLibrary& mpi,
                                           const RankDump& dump) const;
  /// The captured stacks; empty if there are none.
  const CapturedStacks& captured_stacks() const;

  const DumpOptions& options_;
  FrameNames* names_;
  std::optional<CapturedStacks> captured_;
};

} // namespace mqbridge
