#pragma once

#include "host/memory/page_runs.h"
#include "host/process/image_set.h"

namespace mqbridge {

/// The pages of these images' MPI libraries that every dump needs first: they hold the MPI's
/// version, state, transport, debug DLL's name, the sizes of its types, and the roots of its queues
/// and communicators. Found by symbols: nothing is read.
PageRuns mpi_root_pages(const ImageSet& images);

} // namespace mqbridge
