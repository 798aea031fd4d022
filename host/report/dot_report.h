#pragma once

#include "host/document/sink.h"
#include "host/dump/values/document.h"

namespace mqbridge {

/// Who waits for whom, for Graphviz: a node for each rank that waits or is waited for, a double
/// frame where it can never go on, a diamond where one of several ranks is enough. Names from a
/// target are labels, and nothing else. A dump without an analysis is a graph that says so.
void write_dot(const Dump& dump, const Sink& sink);

} // namespace mqbridge
