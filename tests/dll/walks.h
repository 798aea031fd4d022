#pragma once

#include "host/memory/memory.h"
#include "host/mqs/walk.h"
#include "host/process/image_set.h"

#include <string>

namespace mqbridge {

/// mqbridge's own DLL in a real worker, over all three queues.
WalkResult walk_recorder(ImageSet& images, Memory& memory, const Platform& platform);

/// A walk's outcome as text: the failure, every communicator, every operation in order.
std::string told(const WalkResult& result);

/// The platform of the program that runs this: x86_64 in most cases.
Platform own_platform();

} // namespace mqbridge
