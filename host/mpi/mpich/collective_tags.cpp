#include "host/mpi/mpich/collective_tags.h"

#include <array>
#include <cstddef>
#include <utility>

namespace mqbridge::mpich {
namespace {

/// include/mpir_tags.h: the collective of each tag. Tags for MPICH's own purposes are `internal`;
/// so are the tags from 29 up to the first one of nonblocking collectives.
constexpr auto collectives = std::to_array<Collective>({
    Collective::internal,
    Collective::barrier,
    Collective::bcast,
    Collective::gather,
    Collective::gatherv,
    Collective::scatter,
    Collective::scatterv,
    Collective::allgather,
    Collective::allgatherv,
    Collective::alltoall,
    Collective::alltoallv,
    Collective::reduce,
    Collective::reduce,
    Collective::reduce,
    Collective::allreduce,
    Collective::allreduce,
    Collective::allreduce,
    Collective::reduce_scatter,
    Collective::reduce_scatter,
    Collective::reduce_scatter,
    Collective::scan,
    Collective::scan,
    Collective::scan,
    Collective::internal,
    Collective::exscan,
    Collective::alltoallw,
    Collective::internal,
    Collective::internal,
    Collective::reduce_scatter_block,
});
constexpr std::int64_t first_nonblocking_tag = 287;

} // namespace

Collective collective_of(std::int64_t tag) {
  if (tag >= first_nonblocking_tag)
    return Collective::nonblocking;
  const bool known = tag >= 0 && std::cmp_less(tag, collectives.size());
  return known ? collectives.at(static_cast<std::size_t>(tag)) : Collective::internal;
}

} // namespace mqbridge::mpich
