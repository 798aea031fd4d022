#pragma once

#include "host/image/image_set.h"
#include "host/memory/memory_map.h"
#include "host/target/auxv.h"

#include <vector>

namespace mqbridge {

/// What of the stack the auxiliary vector shows to be mapped: its top. Empty if it does not say.
std::vector<MappedRange> stack_of(const AuxiliaryVector& auxv);

/// Where the segments of an image are, which has a file.
std::vector<MappedRange> segments_of(const Image& image);

} // namespace mqbridge
