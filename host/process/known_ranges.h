#pragma once

#include "host/memory/memory_map.h"
#include "host/process/auxv.h"
#include "host/process/image_set.h"

#include <vector>

namespace mqbridge {

/// What of the stack the auxiliary vector shows to be mapped: its top. Empty if it does not say.
std::vector<MappedRange> stack_of(const AuxiliaryVector& auxv);

/// Where the segments of an image are, which has a file.
std::vector<MappedRange> segments_of(const Image& image);

} // namespace mqbridge
