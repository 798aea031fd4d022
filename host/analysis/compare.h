#pragma once

#include "host/dump/document.h"

namespace mqbridge {

/// What moved between two documents of one job, and what did not: the calls that ranks are in, the
/// messages that were counted, the operations that are new, gone, and still there. An operation is
/// the same one by the address of its request, where that is known, else by what it is, as many
/// times as it is there. Of a queue that one of the documents does not have whole nothing is new or
/// gone. Ranks that are not known by number are left out. Any thread.
Changes compare(const Dump& before, const Dump& after);

} // namespace mqbridge
