#pragma once

#include "host/mpi/mpi_support.h"
#include "host/mqs/queues.h"
#include "rsp/result.h"

#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// Whether the communicators are impossible for any MPI. A walk with wrong sizes, a wrong byte
/// order or other types finds such ones: communicators of negative or absurd size, MPI_COMM_WORLD
/// or MPI_COMM_SELF without this process, or no communicator at all. nullopt: nothing speaks
/// against them. Error walk.implausible: none of these communicators is to be believed.
std::optional<Error> find_implausible(std::span<const Communicator> communicators,
                                      const MpiSupport& support);

/// Drops all communicators if find_implausible() finds a fault, and returns it: wrong values must
/// not be shown. A walk that was not `complete` may have found none.
std::optional<Error> drop_implausible(std::vector<Communicator>& communicators,
                                      const MpiSupport& support, bool complete);

/// Warning walk.no_world, for a walk without failure whose communicators are plausible one by one:
/// MPI_COMM_WORLD, which every process has exactly once, is missing or is there twice. Only for an
/// MPI for which that is certain (MpiFacts::world_is_certain). With `may_lack_world` (MpiSupport)
/// a missing one is no reason for doubt.
std::optional<Error> doubt_without_world(std::span<const Communicator> communicators,
                                         const MpiSupport& support, bool may_lack_world);

} // namespace mqbridge
