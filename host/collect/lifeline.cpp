#include "host/collect/lifeline.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

/// Skips input, which has no meaning. False: it has ended.
bool pass_over_input() {
  std::array<char, 4096> bytes;
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

} // namespace

Lifeline::Lifeline(FrameWriter& frames, std::function<void()> lost)
    : lost_(std::move(lost)),
      thread_([this, &frames](const std::stop_token& ended) { watch(ended, frames); }) {}

void Lifeline::watch(const std::stop_token& ended, FrameWriter& frames) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds between_signs{2};
  constexpr int tick_ms = 100;
  auto next_sign = Clock::now() + between_signs;
  while (!ended.stop_requested()) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, tick_ms) == 1 && !pass_over_input()) {
      lost_();
      return;
    }
    if (Clock::now() >= next_sign) {
      frames.alive();
      next_sign = Clock::now() + between_signs;
    }
  }
}

} // namespace mqbridge
