#pragma once

#include "host/mpi/mpich/mpich_pools.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge::mpich {

/// A communicator in the pool of MPICH's objects.
struct FoundCommunicator {
  Communicator communicator;
  std::uint64_t context = 0, receive_context = 0; ///< 16 bits, without those of collectives
  bool is_part = false; ///< MPICH made it for itself, of members of another one

  /// All messages in it are the process's own, and MPICH keeps them itself.
  bool is_of_one() const {
    return communicator.size == 1 && communicator.kind == CommunicatorKind::intra;
  }
};

/// Finds the communicators without types of MPICH: by the pool of its objects, and by the names of
/// the predefined ones. A group with members of other jobs stays unknown. Errors: those of Memory,
/// and walk.unreadable.
Result<std::vector<FoundCommunicator>> find_communicators(const OwnData& data,
                                                          const AddressSpace& space);

} // namespace mqbridge::mpich
