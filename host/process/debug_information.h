#pragma once

#include "host/files/fetch_options.h"
#include "host/process/elf_cache.h"
#include "host/process/image_set.h"
#include "rsp/result.h"

#include <functional>
#include <vector>

namespace mqbridge {

/// Asks debuginfod, if `files` has a server, for the debug information of those `wanted` images
/// that have none. True: some was found, and `images` has it. Faults are added to `warnings`.
bool find_debug_information(ImageSet& images, const std::function<bool(const Image&)>& wanted,
                            ElfCache& files, const FetchContext& fetch,
                            std::vector<Error>& warnings);

} // namespace mqbridge
