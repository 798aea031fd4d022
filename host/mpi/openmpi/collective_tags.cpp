#include "host/mpi/openmpi/collective_tags.h"

#include <array>
#include <limits>

namespace mqbridge::openmpi {
namespace {

/// MCA_COLL_BASE_TAG_ALLGATHER. The tags of the blocking collectives follow downwards, in the order
/// of their names.
constexpr std::int64_t first_blocking = -10;
constexpr auto blocking = std::to_array<Collective>(
    {Collective::allgather, Collective::allgatherv, Collective::allreduce, Collective::alltoall,
     Collective::alltoallv, Collective::alltoallw, Collective::barrier, Collective::bcast,
     Collective::exscan, Collective::gather, Collective::gatherv, Collective::reduce,
     Collective::reduce_scatter, Collective::reduce_scatter_block, Collective::scan,
     Collective::scatter, Collective::scatterv});

constexpr std::int64_t first_nonblocking = first_blocking - std::int64_t{blocking.size()};
constexpr std::int64_t last_nonblocking = -std::int64_t{std::numeric_limits<int>::max() / 2} + 1;
constexpr std::int64_t last_neighbor = last_nonblocking - 1 - 1024;

} // namespace

Collective collective_of(std::int64_t tag) {
  if (tag >= any_tag)
    return Collective::none;
  if (tag > first_blocking)
    return Collective::internal;
  if (tag > first_nonblocking)
    return blocking[static_cast<std::size_t>(first_blocking - tag)];
  if (tag >= last_nonblocking)
    return Collective::nonblocking;
  return tag >= last_neighbor ? Collective::neighbor : Collective::internal;
}

} // namespace mqbridge::openmpi
