#pragma once

#include "host/mpi/recorder/record.h"
#include "host/mqs/queues.h"
#include "host/process/call_sites.h"
#include "host/stacks/stack.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace mqbridge::recorder {

/// A struct mqr_thread of a thread that is in a call of MPI; no change is under way in it.
struct RecordedThread {
  std::int64_t thread = 0;
  std::uint32_t function = 0;     ///< dll/recorder/functions.h
  std::uint64_t communicator = 0; ///< address of the struct; 0: none
  std::uint64_t site = 0;         ///< 0: not known
  std::optional<std::uint32_t> sequence;
  std::int32_t root = MQR_NO_ROOT;
  std::uint32_t wait = 0; ///< 0: none
  std::uint32_t needed = 0, unseen = 0;
};

struct RecordedThreads {
  std::vector<RecordedThread> in_calls;
  bool whole = true; ///< false: the list is damaged behind them
};

/// Errors: those of Memory, but for memory.unreadable.
Result<RecordedThreads> read_threads(const AddressSpace& space, const Root& root);

/// The waits of threads now, by mqr_operation.wait. A number that is not in the map belongs to a
/// call that has returned.
using Waits = std::map<std::uint32_t, Waited>;
Waits waits_of(const std::vector<RecordedThread>& threads);
/// No wait if no thread has this number.
Waited waited_by(const Waits& waits, std::uint32_t wait);

/// Communicator::id by the address of the struct mqr_communicator.
using CommunicatorIds = std::unordered_map<std::uint64_t, std::uint64_t>;
std::vector<BlockedCall> calls_of(const std::vector<RecordedThread>& threads,
                                  const CommunicatorIds& ids, SitePool& sites);

/// "MPI_Send". A number that this version does not know: "an MPI function".
std::string function_name(std::uint32_t number);
/// The root in struct mqr_thread and struct mqr_collective. nullopt: none, or not one of the ranks.
std::optional<std::int64_t> root_rank(std::int32_t root);
/// Null: not known.
SharedSite site_at(std::uint64_t address, SitePool& sites);

} // namespace mqbridge::recorder
