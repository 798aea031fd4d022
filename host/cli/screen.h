#pragma once

#include "host/cli/commands.h"
#include "host/cli/output.h"

#include <cstddef>

namespace mqbridge {

/// Colours for this output? automatic: on a terminal that can, unless NO_COLOR is set and not empty
/// (no-color.org).
bool wants_color(When when, const Output& output);

/// Columns for text: 100, or what the terminal has.
std::size_t text_width(const Output& output);

} // namespace mqbridge
