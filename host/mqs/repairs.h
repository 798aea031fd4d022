#pragma once

#include "host/image/image_set.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/mqs/mpi_library.h"
#include "host/mqs/queues.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge {

/// Turns what the DLL said into what is true (design section 5), keeping the raw values in
/// Operation::raw and Communicator::raw_name, and naming each repair in Operation::repairs:
///   sign_extension  32-bit ranks and tags that came unsigned; MPI_ANY_SOURCE, MPI_ANY_TAG,
///   MPI_PROC_NULL recognised send_rank       a send's untranslated actual_global_rank, through the
///   communicator's group status          req_complete of each request read again at pointer width
///   (address from extra_text[0]), all in one
///                   pipelined read: 0 pending, 1 complete, anything else waited for, hence pending
///   name            unterminated or unprintable names
/// Drops MPI_COMM_NULL (size 0, rank 4294967294). Call while the target is still stopped.
Result<void> repair(std::vector<Communicator>& communicators, const MpiLibrary& mpi,
                    ImageSet& images, Memory& memory, const Platform& platform);

} // namespace mqbridge
