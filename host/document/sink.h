#pragma once

#include <functional>
#include <string_view>

namespace mqbridge {

/// Where a report goes, piece by piece; pieces end anywhere. The receiver keeps the first write
/// error to itself: a report is written to its end, whatever happens to its output. Called by one
/// thread at a time.
using Sink = std::function<void(std::string_view)>;

} // namespace mqbridge
