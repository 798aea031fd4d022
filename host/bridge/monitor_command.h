#pragma once

#include "rsp/server/bell.h"
#include "rsp/unique_fd.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace mqbridge {

/// A program that runs for `monitor mpi ...` of a debugger. A thread of its own reads what it
/// prints, on stdout and stderr, not much faster than it is taken. Everything else is for one
/// thread.
class MonitorCommand {
public:
  /// `bell` is rung when there is more to take. It outlives this. A program that cannot be started
  /// prints why.
  MonitorCommand(const std::vector<std::string>& argv, rsp::Bell& bell);
  /// Interrupts it, and waits until it has ended: it may hold other processes. One that does not
  /// end is killed; its guardian lets go what it holds.
  ~MonitorCommand();
  MonitorCommand(const MonitorCommand&) = delete;
  MonitorCommand& operator=(const MonitorCommand&) = delete;

  /// What it has printed since the last call, at most so many bytes.
  std::string take(std::size_t most);
  /// Whether it prints nothing any more, or has ended, and all was taken.
  bool is_over();

private:
  void read();

  rsp::Bell& bell_;
  pid_t pid_ = 0; ///< 0: it has not been started, or has ended
  rsp::Bell::Clock::time_point ended_;
  rsp::UniqueFd output_;
  mutable std::mutex mutex_; ///< guards the members below
  std::condition_variable taken_;
  std::string printed_;
  bool is_wanted_ = true;
  bool has_ended_ = false;
  std::jthread reader_;
};

} // namespace mqbridge
