#pragma once

#include "host/mqs/queues.h"

#include <cstdint>

namespace mqbridge::openmpi {

/// What a tag of UCX says in Open MPI (ompi/mca/pml/ucx/pml_ucx_request.h): 24 bits of the
/// program's tag, 20 of the sender's rank, 20 of the communicator's place in the table
/// (Communicator::id).
struct UcxTag {
  std::int64_t tag = 0;
  std::int64_t source = 0;
  std::uint64_t communicator = 0;
};

UcxTag decode_ucx_tag(std::uint64_t tag);

/// The bits of a tag that a receive asks for.
struct UcxMask {
  bool any_source = false, any_tag = false;
  bool valid = true; ///< false: Open MPI makes no such mask
};

UcxMask decode_ucx_mask(std::uint64_t mask);

} // namespace mqbridge::openmpi
