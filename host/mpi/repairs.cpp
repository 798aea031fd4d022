#include "host/mpi/repairs.h"

#include "host/mpi/mpi_support.h"

#include <algorithm>

namespace mqbridge {
namespace {

/// Whether it is MPI_COMM_NULL, which Open MPI's DLL lists: it has no members, and so no local
/// rank.
bool is_null_communicator(const Communicator& communicator) {
  const auto& queues = communicator.queues;
  return communicator.size == 0 && !communicator.local_rank &&
         std::all_of(queues.begin(), queues.end(),
                     [](const Queue& queue) { return queue.operations.empty(); });
}

} // namespace

Result<void> repair(std::vector<Communicator>& communicators, const MpiLibrary& mpi,
                    const AddressSpace& space) {
  std::erase_if(communicators, is_null_communicator);
  for (auto& communicator : communicators)
    communicator.named_by_mpi =
        communicator.name == "MPI_COMM_WORLD" || communicator.name == "MPI_COMM_SELF";
  return support_of(mpi.provider).repair(communicators, space);
}

} // namespace mqbridge
