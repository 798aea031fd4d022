#pragma once

#include "host/dump/document.h"

namespace mqbridge {

/// Did the user ask for this rank?
bool wanted(const Filters& filters, int rank);

/// Did the user ask for it? By name.
bool wanted(const Filters& filters, const Communicator& communicator);

/// By tag and peer. A wildcard receive may match any of them: it is wanted. On true ranks and tags
/// only, not on the DLL's.
bool wanted(const Filters& filters, const Operation& operation);

} // namespace mqbridge
