#include "bench/delaying_link/stamped_socket.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <sys/socket.h>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds since_epoch(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// How long ago the kernel noted; its stamps are of the clock that can be set.
std::chrono::nanoseconds age_of(const timespec& stamp) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  // More than that is a clock that was set meanwhile.
  return std::clamp<std::chrono::nanoseconds>(since_epoch(now) - since_epoch(stamp), 0ns, 1s);
}

} // namespace

void stamp_arrivals(int socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
}

ssize_t receive_stamped(int socket, std::span<char> into, Clock::time_point& came) {
  iovec piece{into.data(), into.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT);
  came = Clock::now();
  if (got <= 0)
    return got;
  for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    timespec stamp{};
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS)
      continue;
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    came -= age_of(stamp);
  }
  return got;
}

} // namespace mqbridge::bench
