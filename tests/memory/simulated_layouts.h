#pragma once

#include "tests/memory/prefetch_simulator.h"

#include <cstdint>

namespace mqbridge {

/// How nodes of a list lie in memory. A node has 136 bytes: a pointer to the next one, and two
/// fields that a walk reads beside it.
SimulatedLayout contiguous_list(std::uint64_t nodes, const Platform& platform = {});
/// Anywhere in `mebibytes` of one mapping, in no order.
SimulatedLayout scattered_list(std::uint64_t nodes, std::uint64_t mebibytes,
                               const Platform& platform = {});
/// The same, but each node in a page of its own: none leads to another part of the list.
SimulatedLayout lone_nodes_list(std::uint64_t nodes, std::uint64_t mebibytes);
/// Scattered, in a heap where every second page is full of pointers to anywhere in it.
SimulatedLayout busy_list(std::uint64_t nodes, std::uint64_t mebibytes);
/// An array of pointers to objects anywhere in 16 MiB.
SimulatedLayout pointer_array(std::uint64_t objects);
/// Two lists, whose nodes lie alternately in one piece of memory, walked in turns.
SimulatedLayout interleaved_lists(std::uint64_t nodes);
/// A rank of Open MPI 4.1 with so many pending receives, whose pages lie as those of a real one:
/// requests of 768 bytes in segments of the heap's end, 22 pages of communicators among what else
/// the library keeps in 1.6 MiB before it, and roots in the library's own data. Every communicator
/// looks at all requests.
SimulatedLayout openmpi_rank(std::uint64_t receives);

} // namespace mqbridge
