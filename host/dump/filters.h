#pragma once

#include "host/dump/document.h"

#include <optional>

namespace mqbridge {

/// Did the user ask for this rank? One that is not known may be it.
bool wanted(const Filters& filters, std::optional<int> rank);

/// Did the user ask for it? By name.
bool wanted(const Filters& filters, const Communicator& communicator);

/// By tag and peer. A wildcard receive may match any of them: it is wanted. On true ranks and tags
/// only, not on the DLL's. What the MPI does inside a collective has no tag of the program's: it is
/// wanted always, since nobody can ask for it.
bool wanted(const Filters& filters, const Operation& operation);

} // namespace mqbridge
