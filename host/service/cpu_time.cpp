#include "host/service/cpu_time.h"

#include <unistd.h>

namespace mqbridge {

bool CpuTime::has_moved(const std::vector<JobProcess>& tree,
                        std::chrono::steady_clock::time_point now) {
  // What a process that sleeps uses for its timers, and for a look at it.
  constexpr double idle = 0.01;
  const double seconds = std::chrono::duration<double>(now - std::exchange(seen_, now)).count();
  const double most = idle * seconds * static_cast<double>(::sysconf(_SC_CLK_TCK));
  const Identity launcher = tree.empty() ? Identity() : tree.front().identity();
  if (!launcher_)
    launcher_ = launcher;
  std::map<Identity, std::uint64_t> used;
  for (const JobProcess& process : tree)
    used.emplace(process.identity(), process.cpu);
  used_.swap(used); // from here on `used` is what it was before
  bool has_moved = tree.size() < 2 || launcher != *launcher_ || used.size() != used_.size();
  for (const auto& [process, ticks] : used_) {
    const auto before = used.find(process);
    has_moved =
        has_moved || before == used.end() || static_cast<double>(ticks - before->second) >= most;
  }
  return has_moved;
}

} // namespace mqbridge
