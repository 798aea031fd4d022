#include "tests/support/byte_pump.h"

#include "tests/support/wire_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using std::chrono::microseconds;

constexpr microseconds for_ever{-1};

} // namespace

Flow Flow::of_baud(std::uint32_t baud) {
  constexpr std::uint32_t bits_per_byte = 10;
  constexpr std::size_t piece = 32;
  return {piece, microseconds(std::uint64_t{1'000'000} * piece * bits_per_byte / baud)};
}

BytePump::BytePump(int from, int into, Flow flow, WireWatch* watch)
    : stop_(eventfd(0, EFD_CLOEXEC)), thread_([=, this] { run(from, into, flow, watch); }) {}

BytePump::~BytePump() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(stop_, &one, sizeof one);
  thread_.join();
  close(stop_);
}

/// False: the pump is to stop, or `fd` has none of the events after `time`.
bool BytePump::wait(int fd, short events, microseconds time) const {
  std::array<pollfd, 2> polled{{{fd, events, 0}, {stop_, POLLIN, 0}}};
  const timespec limit{time.count() / 1'000'000, time.count() % 1'000'000 * 1000};
  ppoll(polled.data(), polled.size(), time == for_ever ? nullptr : &limit, nullptr);
  return polled[1].revents == 0 && polled[0].revents != 0;
}

void BytePump::run(int from, int into, Flow flow, WireWatch* watch) {
  std::array<char, 65536> bytes;
  // A piece late makes up for it with the next: what counts is the rate.
  auto next = std::chrono::steady_clock::now();
  while (wait(from, POLLIN, for_ever)) {
    const ssize_t count = read(from, bytes.data(), std::min(flow.piece, bytes.size()));
    if (count <= 0)
      break;
    std::string_view rest(bytes.data(), static_cast<std::size_t>(count));
    if (watch != nullptr)
      watch->read_along(rest);
    while (!rest.empty() && wait(into, POLLOUT, for_ever)) {
      const ssize_t done = write(into, rest.data(), rest.size());
      if (done < 0 && errno != EAGAIN && errno != EINTR)
        return;
      rest.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
    }
    if (!rest.empty())
      return;
    moved_ += static_cast<std::uint64_t>(count);
    const auto now = std::chrono::steady_clock::now();
    next = std::max(next, now - flow.pause) + flow.pause;
    if (next > now)
      wait(-1, 0, std::chrono::ceil<microseconds>(next - now));
  }
  shutdown(into, SHUT_WR);
}

} // namespace mqbridge::test
