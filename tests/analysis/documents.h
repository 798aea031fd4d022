#pragma once

#include "host/dump/values/document.h"
#include "tests/analysis/world.h"

#include <cstdint>

namespace mqbridge::sim {

/// What a document leaves out.
struct Omissions {
  bool counters = false;
  bool stacks = false;          ///< --no-stacks
  bool unique_requests = false; ///< which request an MPI_Wait waits for is not found
};

/// Who tells of what goes on in a process.
enum class Teller : std::uint8_t {
  openmpi,  ///< its debug DLL, and its objects
  recorder, ///< in each process; of that what all of them together tell is made of it
  arguments ///< no queue was read: the calls' arguments alone. What is the same again looks as in a
            ///< loop
};

/// One rank of a job as Open MPI's dumps have it. `base`: the messages that each channel has seen
/// before the program began (modulo 65536), as those of MPI_Comm_dup and MPI_Comm_split.
RankDump rank_document(const World& world, int rank, std::uint32_t base, const Omissions& omissions,
                       Teller teller = Teller::openmpi);

/// A document of these ranks. `second`: of the minute in which it was taken.
Dump make_dump(std::vector<RankDump> ranks, int size, int second);

inline constexpr const char* job_name = "481755137";

} // namespace mqbridge::sim
