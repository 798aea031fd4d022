#pragma once

#include "host/mqs/queues.h"

#include <string_view>

namespace mqbridge {

/// What a call of MPI waits for, according to the standard.
enum class CallKind : std::uint8_t {
  local,      ///< returns by itself: MPI_Irecv, MPI_Comm_rank
  receive,    ///< MPI_Recv, MPI_Mrecv
  probe,      ///< MPI_Probe
  mprobe,     ///< MPI_Mprobe
  send,       ///< MPI_Send, MPI_Ssend, MPI_Rsend
  exchange,   ///< MPI_Sendrecv: a send and a receive
  wait_all,   ///< MPI_Wait, MPI_Waitall
  wait_any,   ///< MPI_Waitany, MPI_Waitsome
  poll,       ///< MPI_Test..., MPI_Iprobe: returns at once, and is called again and again
  collective, ///< a blocking collective
  construct,  ///< makes or frees a communicator or a window, together with others
  connect,    ///< makes one with processes that no list shows: MPI_Comm_spawn, MPI_Comm_accept
  finalize,
  unseen, ///< waits for something that no list shows: one-sided calls, files, MPI_Init
};

/// Which members of a collective wait for which.
enum class CollectiveKind : std::uint8_t {
  none,
  everybody, ///< each waits for all: MPI_Barrier, MPI_All...
  from_root, ///< all wait for the root: MPI_Bcast, MPI_Scatter
  to_root,   ///< the root waits for all: MPI_Gather, MPI_Reduce
  chain,     ///< each waits for the lower ranks: MPI_Scan
  other,     ///< depends on what was passed: MPI_Alltoallw, neighbourhoods
};

CallKind kind_of_call(std::string_view call);
/// Whether a call waits for one operation, and never for one of several: MPI_Recv, MPI_Wait.
bool waits_for_one(std::string_view call);
/// Whether a call of this kind may wait for such an operation.
bool fits(CallKind kind, OpClass op_class, OpKind operation);
CollectiveKind kind_of_collective(std::string_view call);
/// The kind of any call that all members of a communicator make, blocking or nonblocking. Calls
/// that make communicators and windows are `everybody`: the members agree on the result, which
/// nobody knows before all have come.
CollectiveKind dependence_of(std::string_view call);

/// When a send is complete.
enum class SendKind : std::uint8_t {
  standard,    ///< when the MPI has taken the message, which may be at once: MPI_Send, MPI_Irsend
  synchronous, ///< when it has met a receive
  buffered,    ///< at once
};
SendKind kind_of_send(std::string_view call);

/// Whether an operation with this Operation::collective belongs to a blocking call; else to a
/// nonblocking collective, which goes on in any call.
bool is_of_blocking_call(Collective collective);

} // namespace mqbridge
