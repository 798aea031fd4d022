#pragma once

#include "host/dump/document.h"

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
  const BlockedCall* call = nullptr; ///< nullptr: nothing is known of it
};

/// The application threads of a process; one of which nothing is known where the document has none.
/// Refers to the document.
std::vector<ThreadView> threads_of(const RankDump& rank);

/// Whether the process may be in MPI with several threads at once.
bool is_multi_threaded(const RankDump& rank, const std::vector<ThreadView>& threads);

} // namespace mqbridge
