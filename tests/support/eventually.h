#pragma once

#include <chrono>
#include <thread>

namespace mqbridge::test {

/// Waits until `done()` says so, looking every `interval`; its last answer.
template <class Predicate>
bool eventually(std::chrono::milliseconds timeout, Predicate done,
                std::chrono::milliseconds interval = std::chrono::milliseconds(5)) {
  const auto give_up = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > give_up)
      return false;
    std::this_thread::sleep_for(interval);
  }
  return true;
}

} // namespace mqbridge::test
