#pragma once

#include "host/memory/page_runs.h"
#include "host/process/image_set.h"

namespace mqbridge {

/// The pages in which the MPI libraries of these images keep what every dump asks for first: their
/// version, state, transport and debug DLL's name, the sizes that they state of themselves, and the
/// roots of their queues and communicators. By their symbols: nothing is read.
PageRuns mpi_root_pages(const ImageSet& images);

} // namespace mqbridge
