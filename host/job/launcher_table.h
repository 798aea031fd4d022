#pragma once

#include "host/dump/shared_tools.h"
#include "host/dump/target/target_spec.h"
#include "host/job/proctable.h"
#include "rsp/result.h"

#include <chrono>
#include <stop_token>
#include <vector>

namespace mqbridge {

struct LauncherTable {
  std::string program; ///< the launcher's own, without a path; empty: not known
  Proctable table;
  std::vector<Error> warnings;
  std::chrono::milliseconds held{0}; ///< how long the launcher was stopped
};

/// The table of ranks of a running mpirun or srun. The launcher is stopped for that, and runs on
/// when this returns, whatever happened. `launcher`: its process. Errors: those of connecting and
/// attaching, StoppedProcess::open() and read_proctable().
Result<LauncherTable> read_launcher(const TargetSpec& launcher, const SharedTools& tools,
                                    std::stop_token stop);

} // namespace mqbridge
