#pragma once

#include <chrono>
#include <thread>

namespace mqbridge::e2e {

/// Waits until `done()` says so, looking every few milliseconds; its last answer.
template <class Predicate>
bool eventually(std::chrono::milliseconds timeout, Predicate done) {
  const auto give_up = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > give_up)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

} // namespace mqbridge::e2e
