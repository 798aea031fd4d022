#include "bench/delaying_link/one_way.h"

#include "bench/delaying_link/stamped_socket.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>

namespace mqbridge::bench {

void OneWay::take() {
  std::array<char, 256 * 1024> bytes;
  Clock::time_point came;
  const ssize_t got = receive_stamped(from_, bytes, came);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  const auto size = got > 0 ? static_cast<std::size_t>(got) : 0;
  const auto begins = line_.begin(came, size);
  if (size == 0) {
    ended_ = true;
    broken_ = got < 0;
    end_ = line_.arrival(begins, 0);
    return;
  }
  chunks_.push_back({std::string(bytes.data(), size), 0, begins});
  queued_ += size;
}

bool OneWay::send_first(std::size_t arrived) {
  auto& chunk = chunks_.front();
  const std::string_view rest =
      std::string_view(chunk.bytes).substr(chunk.sent, arrived - chunk.sent);
  const ssize_t sent = send(into_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    blocked_ = errno == EAGAIN || errno == EINTR;
    broken_ = !blocked_;
    return false;
  }
  const auto size = static_cast<std::size_t>(sent);
  chunk.sent += size;
  delivered_ += size;
  queued_ -= size;
  blocked_ = size < rest.size();
  if (chunk.sent < chunk.bytes.size())
    return false;
  chunks_.pop_front();
  return true;
}

void OneWay::deliver(Clock::time_point now) {
  blocked_ = false;
  while (!broken_ && !chunks_.empty()) {
    const auto& chunk = chunks_.front();
    const auto arrived = line_.arrived(chunk.begins, now, chunk.bytes.size());
    if (arrived <= chunk.sent || !send_first(arrived))
      return;
  }
  if (ended_ && !closed_ && !broken_ && now >= end_) {
    closed_ = true;
    shutdown(into_, SHUT_WR);
  }
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
