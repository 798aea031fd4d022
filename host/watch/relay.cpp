#include "host/watch/relay.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::size_t most_at_once = std::size_t{64} << 10;

} // namespace

Result<Relay> Relay::open(int to) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail("run.pipe",
                fmt::format("there is no pipe for the command's output: {}", std::strerror(errno)),
                "ulimit -n 4096");
  Relay relay;
  relay.reading_ = FileDescriptor(ends[0]);
  relay.writing_ = FileDescriptor(ends[1]);
  relay.to_ = to;
  ::fcntl(relay.reading_.get(), F_SETFL, O_NONBLOCK); // the writer's end stays as it was
  return relay;
}

pollfd Relay::wanted() const {
  if (is_owing())
    return {to_, POLLOUT, 0};
  return {reading_.get(), POLLIN, 0};
}

bool Relay::move(const pollfd& polled) {
  if (polled.revents == 0)
    return false;
  const auto before = rest_.size();
  if (is_owing())
    give();
  else
    take(most_at_once);
  return rest_.size() != before;
}

void Relay::finish() {
  int waiting = 0;
  if (reading_ && ::ioctl(reading_.get(), FIONREAD, &waiting) == 0)
    take(static_cast<std::size_t>(waiting));
  reading_ = FileDescriptor();
}

/// Reads once, at most `most` bytes; there may be fewer.
void Relay::take(std::size_t most) {
  const auto before = rest_.size();
  rest_.resize(before + most);
  const auto count = ::read(reading_.get(), rest_.data() + before, most);
  const int error = errno;
  rest_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count == 0 || (count < 0 && error != EAGAIN && error != EINTR))
    reading_ = FileDescriptor(); // nobody writes any more
}

/// `to_` stays blocking: others may share it. poll() has found room for PIPE_BUF bytes, so this
/// write does not block.
void Relay::give() {
  const auto count = ::write(to_, rest_.data(), std::min<std::size_t>(rest_.size(), PIPE_BUF));
  if (count > 0) {
    rest_.erase(0, static_cast<std::size_t>(count));
  } else if (count < 0 && errno != EINTR && errno != EAGAIN) {
    rest_.clear();
    reading_ = FileDescriptor(); // the writer learns of it as we did
  }
}

} // namespace mqbridge
