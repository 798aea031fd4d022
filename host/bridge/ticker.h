#pragma once

#include "rsp/exchange/connection.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mqbridge {

/// Wakes a connection again and again while it waits for a process that runs, so that its
/// RunWatcher can look at the time. A thread of its own.
class Ticker {
public:
  static constexpr std::chrono::milliseconds interval{250};

  explicit Ticker(rsp::Connection& stub)
      : thread_([this, &stub](const std::stop_token& ended) {
          std::unique_lock lock(mutex_);
          while (!condition_.wait_for(lock, ended, interval, [] { return false; }) &&
                 !ended.stop_requested())
            stub.wake();
        }) {}

private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  std::jthread thread_;
};

} // namespace mqbridge
