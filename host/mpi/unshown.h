#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/stacks/stack.h"
#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mqbridge {

/// A request for operations in an MPI's memory that its debug DLL does not show.
struct UnshownRequest {
  std::vector<OpClass> op_classes; ///< queues that were asked for
  /// No debug DLL has walked the queues: the communicators are those of list_communicators(), and
  /// all operations are to be found.
  bool all = false;
  /// The debug DLL has walked to the end: what it should have listed, and has not, is
  /// dll.contradicted.
  bool dll_is_done = false;
  std::uint64_t max_operations = 10'000'000; ///< of each queue
  /// Called for each operation, whose peer is known by then; false drops it (it still counts in
  /// Queue::total). Null: all are kept.
  std::function<bool(const Communicator&, const Operation&)> keep = {};
  /// Takes the memory of one more operation; false: there is none left. Null: as much as there is.
  std::function<bool()> take_memory = {};
};

/// Live bytes of a thread's stack.
struct StackBytes {
  TargetAddress address;
  std::vector<std::byte> bytes;
};

/// Adds the operations of calls that block, where the MPI keeps these on stacks alone. `whole`: all
/// threads' stacks are there, to their ends. The process must still stand still. If something
/// cannot be read, the queues stay as they are: not whole. Errors: those of Memory.
using AddFromStacks = std::function<Result<void>(std::vector<Communicator>& communicators,
                                                 std::span<const StackBytes> stacks, bool whole,
                                                 const AddressSpace& space)>;

/// The results beside the operations.
struct UnshownOutcome {
  /// Why nothing can be read (types.partial), or what is missing (recorder.off, recorder.gaps,
  /// queue.no_communicator). To be reported as a warning.
  std::optional<Error> lacking;
  std::optional<Error> damage; ///< queue.damaged, dll.requests_unseen, dll.contradicted
  /// The calls of its threads, if the process itself records them. Their sites have no names yet.
  std::vector<BlockedCall> calls;
  std::vector<Joint> joints;                    ///< RankDump::joints
  std::optional<std::int64_t> waits_state = {}; ///< MpiInfo::waits_state
  AddFromStacks from_stacks;                    ///< null: the queues are complete without
};

} // namespace mqbridge
