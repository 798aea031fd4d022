#pragma once

#include <chrono>

namespace mqbridge {

/// A span of time as a number of seconds, for formulas and for messages. Every duration converts.
constexpr double in_seconds(std::chrono::duration<double> time) {
  return time.count();
}

} // namespace mqbridge
