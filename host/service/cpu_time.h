#pragma once

#include "host/watch/job_processes.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {

/// Whether the processes of a job compute, by the CPU time that the kernel counts for each. No I/O.
class CpuTime {
public:
  /// `tree`: the launcher, and the processes below it. True: since the last call one of them has
  /// used CPU time, has begun or has ended. Also at the first call, and where no job is to be seen:
  /// no process is below the launcher, or what has its number now is another process.
  bool has_moved(const std::vector<JobProcess>& tree, std::chrono::steady_clock::time_point now);

private:
  using Identity = std::pair<pid_t, std::uint64_t>;

  std::optional<Identity> launcher_; ///< as it was at the first call
  std::map<Identity, std::uint64_t> used_;
  std::chrono::steady_clock::time_point seen_;
};

} // namespace mqbridge
