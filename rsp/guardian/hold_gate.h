#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace mqbridge::rsp {

/// Counts the connections on which a target may be stopped for us, and lets no new one begin while
/// it is closed. A program that is about to be suspended closes it, waits until nothing is held,
/// and opens it when it is continued. Thread-safe.
class HoldGate {
public:
  /// Waits while the gate is closed.
  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
    ++held_;
  }
  /// As enter(), but never waits: a target that ran has stopped already.
  void enter_at_once() {
    const std::lock_guard lock(mutex_);
    ++held_;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      --held_;
    }
    changed_.notify_all();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = false;
    }
    changed_.notify_all();
  }
  /// Whether nothing is held, at the latest after `limit`.
  bool await_none(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return held_ == 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t held_ = 0;
  bool closed_ = false;
};

} // namespace mqbridge::rsp
