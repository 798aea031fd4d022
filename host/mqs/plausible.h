#pragma once

#include "host/mqs/queues.h"
#include "rsp/result.h"

#include <optional>
#include <span>

namespace mqbridge {

/// What no MPI can have, and a walk by wrong sizes, a wrong byte order or other types finds:
/// communicators of negative or absurd size, MPI_COMM_WORLD or MPI_COMM_SELF without this process,
/// or no communicator at all. nullopt: nothing speaks against them. Error walk.implausible: none of
/// these communicators is to be believed.
std::optional<Error> find_implausible(std::span<const Communicator> communicators);

} // namespace mqbridge
