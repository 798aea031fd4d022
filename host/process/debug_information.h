#pragma once

#include "host/files/fetch_options.h"
#include "host/process/elf_cache.h"
#include "host/process/image_set.h"
#include "host/process/library_names.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge {

/// Asks debuginfod, where `files` has a server, for the debug information of the executable and of
/// `mpi_libraries` that have none. True: some was found, and `images` has it. What went wrong
/// is added to `warnings`.
bool find_debug_information(ImageSet& images, const LibraryNames& mpi_libraries, ElfCache& files,
                            const FetchContext& fetch, std::vector<Error>& warnings);

} // namespace mqbridge
