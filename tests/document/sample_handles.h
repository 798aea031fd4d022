#pragma once

#include "host/mqs/handles.h"

namespace mqbridge::test {

/// Each field of each part has a value that is not its default.
ProcessHandles rich_handles();

} // namespace mqbridge::test
