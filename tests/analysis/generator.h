#pragma once

#include "tests/analysis/program.h"

#include <cstdint>

namespace mqbridge::sim {

/// A random program of 2 to 8 ranks. It begins as a correct one, whose messages and collectives
/// were written down in one order for all ranks, and is then spoilt in up to three places: two
/// statements change places, one goes, a tag, a peer, a communicator or a root is another one, an
/// eager message becomes a large or a synchronous one, a rank ends early or computes for ever.
/// About half of them hang. The same seed gives the same program.
Program random_program(std::uint64_t seed);

} // namespace mqbridge::sim
