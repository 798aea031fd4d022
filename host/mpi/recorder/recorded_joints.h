#pragma once

#include "host/mpi/recorder/record.h"
#include "host/mqs/joints.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::recorder {

struct Joints {
  std::vector<Joint> all;
  bool whole = true; ///< false: what comes behind them is damaged
};

/// Where the process met processes of other jobs; none before version 1.2. If the list is damaged
/// or full, there may be more: then the last one is an empty Joint, with the id 0 that no other
/// has. Errors: those of Memory, except memory.unreadable.
Result<Joints> read_joints(const AddressSpace& space, const Root& root);

} // namespace mqbridge::recorder
