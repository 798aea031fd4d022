#pragma once

#include "host/mpi/mpi_support.h"
#include "host/mqs/queues.h"
#include "rsp/result.h"

#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// What no MPI can have, and a walk by wrong sizes, a wrong byte order or other types finds:
/// communicators of negative or absurd size, MPI_COMM_WORLD or MPI_COMM_SELF without this process,
/// or no communicator at all. nullopt: nothing speaks against them. Error walk.implausible: none of
/// these communicators is to be believed.
std::optional<Error> find_implausible(std::span<const Communicator> communicators,
                                      const MpiSupport& support);

/// Wrong sizes must not show as values: what find_implausible() finds, and no communicator is left
/// then. A walk that was not `complete` may have found none.
std::optional<Error> drop_implausible(std::vector<Communicator>& communicators,
                                      const MpiSupport& support, bool complete);

/// Of a walk without failure, in which each communicator by itself could be one: warning
/// walk.no_world where MPI_COMM_WORLD, which every process is in once, is not among them, or is
/// there twice. For an MPI of which that is certain (MpiSupport::world_is_certain). With
/// `may_lack_world` (MpiSupport) that it is not there is no reason for doubt.
std::optional<Error> doubt_without_world(std::span<const Communicator> communicators,
                                         const MpiSupport& support, bool may_lack_world);

} // namespace mqbridge
