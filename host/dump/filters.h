#pragma once

#include "host/dump/document.h"

namespace mqbridge {

/// Leaves out what the user did not ask for: communicators by name, operations by tag and peer.
/// Totals stay. Called on repaired operations, because a filter means true ranks and tags.
void apply_filters(const Filters& filters, std::vector<Communicator>& communicators);

} // namespace mqbridge
