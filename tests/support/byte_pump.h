#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>

namespace mqbridge::test {

class WireWatch;

/// How a pump passes bytes on: at most `piece` at once, and a pause after each piece.
struct Flow {
  std::size_t piece = std::numeric_limits<std::size_t>::max();
  std::chrono::microseconds pause{0};

  /// As a serial line of so many bits a second, a start and a stop bit to each byte.
  static Flow of_baud(std::uint32_t baud);
};

/// Moves bytes from one descriptor to another in a thread of its own, until the first one ends or
/// the pump does. At the end of a socket the other one is shut down for writing.
class BytePump {
public:
  /// Neither descriptor is owned; both outlive the pump.
  /// `watch`, if there is one, reads along; it outlives the pump too.
  BytePump(int from, int into, Flow flow, WireWatch* watch = nullptr);
  ~BytePump();
  BytePump(const BytePump&) = delete;
  BytePump& operator=(const BytePump&) = delete;

  std::uint64_t moved() const { return moved_; }

private:
  void run(int from, int into, Flow flow, WireWatch* watch);
  bool wait(int fd, short events, std::chrono::microseconds time) const;

  int stop_;
  std::atomic<std::uint64_t> moved_ = 0;
  std::thread thread_;
};

} // namespace mqbridge::test
