#pragma once

#include "host/dump/values/document.h"

namespace mqbridge {

/// What changed between two documents of one job: the calls that ranks are in, the messages that
/// were counted, and the operations that are new, gone, and still there. Two operations are the
/// same one if their requests have the same address; without an address, if they look the same, as
/// many times as they occur. If one of the documents does not have a whole queue, no operation of
/// it counts as new or gone. Ranks without a number are left out. Any thread.
Changes compare(const Dump& before, const Dump& after);

} // namespace mqbridge
