#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace mqbridge::rsp {

/// Wakes one thread that waits for several things at once. ring() is for any thread.
class Bell {
public:
  using Clock = std::chrono::steady_clock;

  void ring() {
    {
      const std::lock_guard lock(mutex_);
      rung_ = true;
    }
    rings_.notify_one();
  }

  /// Returns once it was rung since the last call, or at `until`.
  void wait(std::optional<Clock::time_point> until = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto was_rung = [&] { return std::exchange(rung_, false); };
    if (until)
      rings_.wait_until(lock, *until, was_rung);
    else
      rings_.wait(lock, was_rung);
  }

private:
  std::mutex mutex_;
  std::condition_variable rings_;
  bool rung_ = false;
};

} // namespace mqbridge::rsp
