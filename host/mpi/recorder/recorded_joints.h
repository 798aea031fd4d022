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

/// Where the process met others of other jobs; none before version 1.2. Errors: those of Memory,
/// but for memory.unreadable. Where there may be more than these, because the list is damaged or
/// full, the last one is an empty Joint, with the id 0 that none has.
Result<Joints> read_joints(const AddressSpace& space, const Root& root);

} // namespace mqbridge::recorder
