#pragma once

#include "host/mqs/wire.h"

namespace mqbridge::worker {

/// Before the DLL is loaded (its constructors are foreign code, too): dies with the parent, dumps
/// no core, and may use no more memory, processor time and descriptors than `start` grants. Limits
/// that the system refuses are left out: the parent's clock holds anyway.
void confine(const wire::StartMessage& start);

} // namespace mqbridge::worker
