#pragma once

#include "host/cli/commands.h"
#include "host/dump/document.h"

namespace mqbridge {

/// Adds to a dump of variables what the command asks to be made of them.
void add_variable_findings(Dump& dump, const VariablesChoice& choice);

} // namespace mqbridge
