#pragma once

#include "host/mqs/walk.h"
#include "host/process/address_space.h"

#include <string>

namespace mqbridge {

/// mqbridge's own DLL in a real worker, over all three queues.
WalkResult walk_recorder(const AddressSpace& space);

/// A walk's outcome as text: the failure, every communicator, every operation in order.
std::string told(const WalkResult& result);

/// The platform of the program that runs this: x86_64 in most cases.
Platform own_platform();

} // namespace mqbridge
