#include "rsp/transport/stream_transport.h"

#include "rsp/codes.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

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

Result<UniqueFd> StreamTransport::make_wakeup() {
  UniqueFd wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup)
    return fail(
        codes::connect_failed,
        fmt::format("cannot make an event descriptor: {}", std::generic_category().message(errno)),
        "raise the limit of open files (ulimit -n)");
  return wakeup;
}

void StreamTransport::send(const Outgoing& bytes) {
  outbox_ += bytes.bytes();
  write_some();
}

Received StreamTransport::receive(Clock::time_point deadline) {
  for (;;) {
    if (auto received = read_some())
      return *received;
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

void StreamTransport::wake() {
  const std::uint64_t one = 1;
  // The write can only fail if 2^64 - 2 wake-ups are counted already.
  [[maybe_unused]] const auto written = ::write(wakeup_.get(), &one, sizeof(one));
}

// A stub that does not read may still send something: only reading finds the end.
void StreamTransport::write_some() {
  std::size_t done = 0;
  while (done < outbox_.size()) {
    const auto count = write_now(std::string_view(outbox_).substr(done));
    if (count < 0) {
      if (!try_again())
        done = outbox_.size();
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  outbox_.erase(0, done);
}

/// Nullopt: there is nothing to read.
std::optional<Received> StreamTransport::read_some() {
  if (!end_) {
    const auto count = read_now(chunk_.data(), chunk_.size());
    if (count > 0)
      return Received{Received::Kind::data, {chunk_.data(), static_cast<std::size_t>(count)}};
    if (count < 0 && try_again())
      return std::nullopt;
    end_ = count == 0 ? "closed by the other side" : std::generic_category().message(errno);
  }
  return Received{Received::Kind::closed, *end_};
}

bool StreamTransport::take_wakeup() {
  std::uint64_t count = 0;
  return ::read(wakeup_.get(), &count, sizeof(count)) == sizeof(count);
}

} // namespace mqbridge::rsp
