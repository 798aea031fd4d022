#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <optional>

namespace mqbridge {

/// `value` as the 32-bit int that it is in the target: DLLs that do not sign-extend give 4294967295
/// for -1. Every MPI rank and tag is such an int.
std::int64_t as_target_int(std::int64_t value);

/// An operation from the DLL's raw fields, as far as they and the communicator's group tell: sign
/// extension (MPI_ANY_SOURCE, MPI_ANY_TAG and MPI_PROC_NULL among it) and translation of ranks. The
/// corrections are named in Operation::repairs; what needs the target's memory is left to repair().
/// `communicator` has its group already. Pure.
Operation interpret(OpClass op_class, const RawOperation& raw, TextLines text,
                    const Communicator& communicator);

/// For an operation whose status could not be read again, while the debug DLL's is not to be
/// believed: the status becomes `unknown`. Facts about the message that a receive has met are
/// dropped, too.
void forget_status(Operation& operation);

/// A send that a recorder has seen returning: the MPI has taken its message, and nothing says
/// whether it has been received. It is no pending operation, and the program waits for it no more.
bool is_returned_send(const Operation& operation);

/// The rank in MPI_COMM_WORLD of the peer that has this local rank; in an intercommunicator peers
/// are of the remote group. nullopt: not known, or of another job.
std::optional<std::int64_t> world_rank_of_peer(const Communicator& communicator,
                                               const MaybeInt& local);

} // namespace mqbridge
