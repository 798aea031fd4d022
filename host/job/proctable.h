#pragma once

#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/process/image_set.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge {

/// One process of the job that a launcher has started.
struct ProctableEntry {
  std::int64_t rank = 0;  ///< its place in the table
  std::string host;       ///< as the launcher has it; any text
  std::string executable; ///< the same; empty where it cannot be read
  std::int64_t pid = 0;
};

struct Proctable {
  std::uint64_t size = 0; ///< entries that the launcher states
  std::vector<ProctableEntry> entries;
  std::vector<Error> faults; ///< entries that are left out, and why; a few of each kind
};

/// MPIR_proctable of a launcher (MPIR Process Acquisition Interface, 9): an array of {char*
/// host_name, char* executable_name, int pid}, laid out by the launcher's platform, with the ranks
/// in order. Entries are believed as far as they can belong to a job; one bad entry does not affect
/// others. Some four bursts of reads for a thousand entries. Errors: mpirun.no_proctable,
/// mpirun.not_started (the table is still empty), mpirun.proctable (it cannot be one), those of
/// Memory.
Result<Proctable> read_proctable(const ImageSet& images, Memory& memory, const Platform& platform);

} // namespace mqbridge
