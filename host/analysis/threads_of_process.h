#pragma once

#include "host/analysis/job_picture.h"
#include "host/dump/values/document.h"

#include <cstdint>
#include <vector>

namespace mqbridge {

/// What one application thread does.
enum class ThreadState : std::uint8_t {
  in_call, ///< of MPI
  running, ///< outside of MPI, or in a call that handles a message at this moment
  in_lock, ///< outside of MPI, in a futex without a limit of time: for another thread, as a rule
  waiting, ///< outside of MPI, in a system call that may wait for another process
  unknown,
};

struct ThreadView {
  ThreadState state = ThreadState::unknown;
  const BlockedCall* call = nullptr; ///< nullptr: it is not known
};

/// The application threads of a process. If the document has none, one thread that is not known.
/// Refers to the document.
std::vector<ThreadView> threads_of(const RankDump& rank);

/// Whether the process may be in MPI with several threads at once.
bool is_multi_threaded(const RankDump& rank, const std::vector<ThreadView>& threads);

/// Whether a thread sleeps in a look, or is about to leave a call that gives up the processor: a
/// sleep that is over when the process is stopped is no system call any more.
bool is_asleep(const RankDump& rank, const BlockedCall& call);

/// Whether a thread in a call of MPI reads or writes a file itself, or may do so: it has no stack.
bool may_use_file(const RankDump& rank, const BlockedCall& call);

/// A function of the program that MPI has called, as MPI_Finalize calls those of attributes.
enum class Callback : std::uint8_t {
  none,         ///< or not known: the MPI is linked into the program, or there is no stack
  runs,         ///< it is the innermost function
  calls_others, ///< of the MPI again, for example, or of the C library
};
/// The callback inside of this call: a frame of the file that called MPI.
Callback callback_in(const RankDump& rank, const BlockedCall& call);

/// A loop that polls and sleeps.
struct LoopAsleep {
  const BlockedCall* place = nullptr; ///< of the sleep; null: nothing shows such a loop
  bool polls = true; ///< false: this MPI does not tell whether it was called between the sleeps
};
/// The loop in which the only thread of a process sleeps: in the look before the same function
/// slept there, too, and has called MPI since, or it polled. No message has come or gone meanwhile.
LoopAsleep sleep_between_calls(const Process& process, const std::vector<ThreadView>& threads);

} // namespace mqbridge
