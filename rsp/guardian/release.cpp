#include "rsp/guardian/release.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp::guardian {
namespace {

using std::chrono::milliseconds;

/// A stub that says nothing for so long is left: the detach packet lies in its socket, and many
/// stubs let the target run when the connection closes.
constexpr milliseconds patience{3'000};
/// Whatever the stub does, the connection is closed after this long: even a slow link has brought
/// by then what was owed, and a stub that talks for ever answers nobody.
constexpr milliseconds longest{60'000};
/// Silence after which an answer counts as the last one, or the detach packet as lost.
constexpr milliseconds quiet{300};

std::string frame(std::string_view payload) {
  constexpr std::string_view digits = "0123456789abcdef";
  unsigned sum = 0;
  for (const char byte : payload)
    sum += static_cast<unsigned char>(byte);
  std::string framed = "$";
  framed += payload;
  framed += '#';
  framed += digits[(sum >> 4) & 0xf];
  framed += digits[sum & 0xf];
  return framed;
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

Release::Release(int descriptor, std::string detach_payload, Clock::time_point now)
    : descriptor_(descriptor), detach_payload_(std::move(detach_payload)),
      deadline_(now + patience), last_deadline_(now + longest), wake_at_(deadline_) {
  // Nobody else uses the open file description any more. Should this fail, poll() still keeps
  // reads and writes from blocking for long.
  const int flags = fcntl(descriptor_, F_GETFL);
  fcntl(descriptor_, F_SETFL, flags | O_NONBLOCK);
}

Release::Release(Release&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), phase_(other.phase_),
      detach_payload_(std::move(other.detach_payload_)), output_(std::move(other.output_)),
      scanner_(std::move(other.scanner_)), answered_(other.answered_),
      asked_which_(other.asked_which_), deadline_(other.deadline_),
      last_deadline_(other.last_deadline_), wake_at_(other.wake_at_) {}

Release::~Release() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

short Release::wanted_events() const {
  const bool writing = phase_ == Phase::connecting || !output_.empty();
  return static_cast<short>(POLLIN | (writing ? POLLOUT : 0));
}

void Release::advance(short events, Clock::time_point now) {
  if (phase_ == Phase::connecting) {
    // A socket that never began to connect polls as hung up; one that still connects as nothing.
    if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
      phase_ = Phase::done;
      return;
    }
    // A stub that blocks on its replies lets us write only after we have read.
    if ((events & (POLLOUT | POLLIN)) != 0)
      start_releasing(now);
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0)
    receive(now);
  if (phase_ != Phase::done && now >= wake_at_)
    on_silence(now);
  if (phase_ != Phase::done)
    transmit();
}

void Release::start_releasing(Clock::time_point now) {
  phase_ = Phase::releasing;
  wake_at_ = now + quiet;
  // `#00` ends a half packet and is skipped between packets. In ack mode the stub may still wait
  // for the `+` to its last reply, and takes any other byte for a request to repeat it.
  output_ += "#00+";
  send_packet(detach_payload_);
}

void Release::receive(Clock::time_point now) {
  std::array<char, 65536> bytes;
  const ssize_t count = read(descriptor_, bytes.data(), bytes.size());
  if (count < 0 && would_block())
    return;
  if (count <= 0) {
    phase_ = Phase::done;
    return;
  }
  for (const std::string& reply : scanner_.feed({bytes.data(), static_cast<std::size_t>(count)})) {
    // A packet, not just any byte: a stub that babbles is no better than one that is silent.
    deadline_ = std::min(now + patience, last_deadline_);
    if (phase_ == Phase::releasing) {
      output_ += '+'; // without acks the stub skips it
      handle_reply(reply);
    }
  }
  if (phase_ == Phase::releasing)
    wake_at_ = std::min(now + quiet, deadline_);
}

void Release::handle_reply(const std::string& reply) {
  const char kind = reply.empty() ? '\0' : reply.front();
  if (reply == "OK" || kind == 'W' || kind == 'X') {
    answered_ = true;
  } else if (kind == 'E') {
    answered_ = true;
    // After multiprocess+ a stub wants to know which process. We do not when mqbridge died
    // between the negotiation and the first stop reply: the stub's current one is it.
    if (!names_a_process() && !asked_which_) {
      asked_which_ = true;
      send_packet("?");
    }
  } else if (kind == 'T' || kind == 'S') {
    // Either the answer to `?`, or the target had been running until now: a stub loses what it is
    // sent meanwhile, and has not seen the detach packet.
    const std::string process = names_a_process() ? std::string() : process_of_stop_reply(reply);
    send_packet(process.empty() ? detach_payload_ : "D;" + process);
  }
}

void Release::on_silence(Clock::time_point now) {
  if (now >= deadline_) {
    phase_ = Phase::done;
  } else if (phase_ == Phase::connecting) {
    wake_at_ = deadline_;
  } else if (answered_ && output_.empty()) {
    start_closing();
  } else {
    send_packet(detach_payload_);
    wake_at_ = std::min(now + 4 * quiet, deadline_);
  }
}

void Release::start_closing() {
  // Half-closed first: a full close while the stub still has replies to send becomes a reset, and
  // a reset discards what it has not read.
  phase_ = Phase::closing;
  wake_at_ = deadline_;
  if (shutdown(descriptor_, SHUT_WR) != 0)
    phase_ = Phase::done; // not a socket
}

void Release::transmit() {
  if (output_.empty() || phase_ != Phase::releasing)
    return;
  const ssize_t count = write(descriptor_, output_.data(), output_.size());
  if (count > 0)
    output_.erase(0, static_cast<std::size_t>(count));
  else if (count < 0 && !would_block())
    phase_ = Phase::done;
}

void Release::send_packet(std::string_view payload) {
  output_ += frame(payload);
}

} // namespace mqbridge::rsp::guardian
