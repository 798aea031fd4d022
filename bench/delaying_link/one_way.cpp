#include "bench/delaying_link/one_way.h"

#include "bench/delaying_link/stamped_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>

namespace mqbridge::bench {

bool OneWay::take() {
  std::array<char, 256 * 1024> bytes;
  Clock::time_point came;
  const ssize_t got = receive_stamped(from_, bytes, came);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  const auto size = got > 0 ? static_cast<std::size_t>(got) : 0;
  const auto begins = line_.begin(came, size);
  if (size == 0) {
    ended_ = true;
    broken_ = got < 0;
    end_ = line_.arrival(begins, 0);
    return false;
  }
  chunks_.push_back({std::string(bytes.data(), size), 0, begins});
  queued_ += size;
  return true;
}

std::size_t OneWay::send_first(std::size_t arrived) {
  auto& chunk = chunks_.front();
  const std::string_view rest =
      std::string_view(chunk.bytes).substr(chunk.sent, arrived - chunk.sent);
  const ssize_t result = send(into_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  broken_ = result < 0 && errno != EAGAIN && errno != EINTR;
  const auto sent = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
  blocked_ = !broken_ && sent < rest.size();
  chunk.sent += sent;
  queued_ -= sent;
  if (chunk.sent == chunk.bytes.size())
    chunks_.pop_front();
  return sent;
}

std::size_t OneWay::deliver(Clock::time_point now) {
  std::size_t all = 0;
  blocked_ = false;
  while (!broken_ && !blocked_ && !chunks_.empty()) {
    const auto& chunk = chunks_.front();
    const auto arrived = line_.arrived(chunk.begins, now, chunk.bytes.size());
    if (arrived <= chunk.sent)
      return all;
    all += send_first(arrived);
    delivered_ = now;
  }
  if (ended_ && chunks_.empty() && !closed_ && !broken_ && now >= end_) {
    closed_ = true;
    shutdown(into_, SHUT_WR);
  }
  return all;
}

Clock::time_point OneWay::next() const {
  if (done() || blocked_)
    return Clock::time_point::max();
  if (chunks_.empty())
    return ended_ ? end_ : Clock::time_point::max();
  const auto& chunk = chunks_.front();
  return line_.arrival(chunk.begins, std::min(chunk.bytes.size(), chunk.sent + line_.step()));
}

} // namespace mqbridge::bench
