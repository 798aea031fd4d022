#include "rsp/transport/socket_transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>

namespace mqbridge::rsp {
namespace {

bool try_again() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

timespec time_until(Transport::Clock::time_point deadline) {
  using namespace std::chrono;
  const auto left = std::max(nanoseconds(deadline - Transport::Clock::now()), nanoseconds(0));
  const auto whole = duration_cast<seconds>(left);
  return {static_cast<time_t>(whole.count()), static_cast<long>((left - whole).count())};
}

} // namespace

Result<std::unique_ptr<SocketTransport>> SocketTransport::adopt(UniqueFd fd) {
  UniqueFd wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup)
    return fail(
        "connect.failed",
        fmt::format("cannot make an event descriptor: {}", std::generic_category().message(errno)),
        "raise the limit of open files (ulimit -n)");
  const int buffer =
      2 * static_cast<int>(min_send_buffer); // the kernel counts its own overhead too
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
  return std::unique_ptr<SocketTransport>(new SocketTransport(std::move(fd), std::move(wakeup)));
}

void SocketTransport::send(const Outgoing& bytes) {
  outbox_ += bytes.bytes();
  write_some();
}

Received SocketTransport::receive(Clock::time_point deadline) {
  for (;;) {
    if (auto received = read_some())
      return std::move(*received);
    if (Clock::now() >= deadline)
      return {Received::Kind::timed_out, {}};
    const short writing = outbox_.empty() ? short{0} : short{POLLOUT};
    std::array<pollfd, 2> waiting{
        {{fd_.get(), static_cast<short>(POLLIN | writing), 0}, {wakeup_.get(), POLLIN, 0}}};
    const auto left = time_until(deadline);
    ::ppoll(waiting.data(), waiting.size(), &left, nullptr);
    if ((waiting[1].revents & POLLIN) != 0 && take_wakeup())
      return {Received::Kind::woken, {}};
    if ((waiting[0].revents & POLLOUT) != 0)
      write_some();
  }
}

void SocketTransport::wake() {
  const std::uint64_t one = 1;
  // Can only fail when it counts 2^64 - 2 wake-ups already.
  [[maybe_unused]] const auto written = ::write(wakeup_.get(), &one, sizeof(one));
}

// A stub that does not read may still have something to say: only the reading side tells the end.
void SocketTransport::write_some() {
  std::size_t done = 0;
  while (done < outbox_.size()) {
    const auto count = ::send(fd_.get(), outbox_.data() + done, outbox_.size() - done,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) {
      if (!try_again())
        done = outbox_.size();
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  outbox_.erase(0, done);
}

/// Nullopt: nothing is there.
std::optional<Received> SocketTransport::read_some() {
  if (!end_) {
    const auto count = ::recv(fd_.get(), chunk_.data(), chunk_.size(), MSG_DONTWAIT);
    if (count > 0)
      return Received{Received::Kind::data, {chunk_.data(), static_cast<std::size_t>(count)}};
    if (count < 0 && try_again())
      return std::nullopt;
    end_ = count == 0 ? "closed by the other side" : std::generic_category().message(errno);
  }
  return Received{Received::Kind::closed, *end_};
}

bool SocketTransport::take_wakeup() {
  std::uint64_t count = 0;
  return ::read(wakeup_.get(), &count, sizeof(count)) == sizeof(count);
}

} // namespace mqbridge::rsp
