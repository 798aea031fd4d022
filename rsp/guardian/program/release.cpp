#include "rsp/guardian/program/release.h"

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
/// Whatever the stub does, the connection is closed after this long. By then even a slow link has
/// brought the missing bytes, and a stub that talks for ever answers nobody.
constexpr milliseconds longest{60'000};
/// Silence after which an answer counts as the last one, or the detach packet as lost.
constexpr milliseconds quiet{300};
/// A stub that does not say by then which thread is selected is left with the registers as they
/// are.
constexpr milliseconds unknown{1'000};
/// If the stub leaves more bytes than this unread, its packets are not acknowledged any more. A
/// stub that talks and never reads must not take the memory that other releases need.
constexpr std::size_t most_unsent = std::size_t{64} << 10;

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

/// See write_registers().
bool sets_registers(std::string_view payload) {
  return payload.starts_with("Hg");
}

/// "Hgp1f.20;8f8e34b8fc7f0000;G0011..."
struct Registers {
  std::string_view thread; ///< "p1f.20"
  std::string_view return_place;
  std::string_view packet;
};

Registers registers_in(std::string_view payload) {
  constexpr std::size_t selects = 2; // "Hg"
  const auto first = payload.find(';');
  const auto second = payload.find(';', first + 1);
  return {payload.substr(selects, first - selects), payload.substr(first + 1, second - first - 1),
          payload.substr(second + 1)};
}

/// "p01.20" and "p1.20" name the same thread.
bool is_same_thread(std::string_view one, std::string_view other) {
  const auto without_zeros = [](std::string_view name) {
    std::string plain;
    bool begins = true; // a number
    for (const char sign : name) {
      const bool is_digit = sign != 'p' && sign != '.';
      if (!begins || sign != '0')
        plain += sign;
      begins = !is_digit || (begins && sign == '0');
    }
    return plain;
  };
  return without_zeros(one) == without_zeros(other);
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

Release::Release(int descriptor, std::vector<std::string> detach_payloads, Manner manner,
                 Clock::time_point now)
    : descriptor_(descriptor), detach_payloads_(std::move(detach_payloads)), manner_(manner),
      ran_(manner == Manner::wait), since_(now), deadline_(now + patience),
      last_deadline_(now + longest), wake_at_(deadline_) {
  // Nobody else uses the open file description any more. If fcntl() fails, poll() still keeps reads
  // and writes from blocking for long.
  const int flags = fcntl(descriptor_, F_GETFL);
  fcntl(descriptor_, F_SETFL, flags | O_NONBLOCK);
}

Release::Release(Release&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), phase_(other.phase_),
      detach_payloads_(std::move(other.detach_payloads_)), manner_(other.manner_),
      output_(std::move(other.output_)), scanner_(std::move(other.scanner_)), heard_(other.heard_),
      answers_(other.answers_), awaits_registers_(other.awaits_registers_),
      asked_thread_(other.asked_thread_), asked_which_(other.asked_which_), ran_(other.ran_),
      stop_(std::move(other.stop_)), since_(other.since_), deadline_(other.deadline_),
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
    // poll() reports a socket that never began to connect as hung up, and nothing of one that still
    // connects.
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
  wake_at_ = now + quiet;
  if (detach_payloads_.empty())
    return start_closing();
  if (manner_ == Manner::leave) {
    // The bytes that still come are read first: if they meet a closed socket, the connection is
    // reset, and QEMU's process ends by SIGPIPE when QEMU sends its next packet.
    phase_ = Phase::leaving;
    return;
  }
  phase_ = Phase::releasing;
  if (manner_ == Manner::wait)
    deadline_ = Clock::time_point::max();
  // `#00` ends a half packet and is skipped between packets. In ack mode the stub may still wait
  // for the `+` to its last reply, and takes any other byte for a request to repeat it. A stub
  // whose target runs finds all this in its socket when it stops.
  output_ += "#00";
  send_detach_packets();
}

void Release::target_stopped(Clock::time_point now) {
  manner_ = Manner::detach;
  since_ = now;
  last_deadline_ = now + longest;
  deadline_ = now + patience;
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
  heard_ = true;
  for (const std::string& reply : scanner_.feed({bytes.data(), static_cast<std::size_t>(count)})) {
    // Only a packet counts, not just any byte: a stub that babbles is no better than a silent one.
    if (manner_ == Manner::detach)
      deadline_ = std::min(now + patience, last_deadline_);
    if (phase_ == Phase::releasing) {
      if (output_.size() < most_unsent)
        output_ += '+'; // without acks the stub skips it
      handle_reply(reply, now);
    }
  }
  if (phase_ == Phase::releasing || phase_ == Phase::leaving)
    wake_at_ = std::min(now + quiet, deadline_);
}

void Release::handle_reply(const std::string& reply, Clock::time_point now) {
  const char kind = reply.empty() ? '\0' : reply.front();
  const bool ended = kind == 'W' || kind == 'X';
  if (manner_ == Manner::wait &&
      (ended || kind == 'T' || kind == 'S' || kind == 'E' || reply == "OK")) {
    stop_ = reply;
    target_stopped(now);
  }
  if (kind == 'E' && !names_a_process() && !asked_which_) {
    // After multiprocess+ a stub wants to be told the process. If mqbridge died between the
    // negotiation and the first stop reply, we do not know it: it is the stub's current one. The
    // error does not count as an answer: silence would then end the release before the stub has
    // named the process.
    asked_which_ = true;
    send_packet("?");
  } else if (reply.starts_with("QC")) {
    set_registers(std::string_view(reply).substr(2));
  } else if (reply == "OK" || ended || kind == 'E') {
    if (!std::exchange(awaits_registers_, false))
      ++answers_;
  } else if (!names_a_process()) {
    const std::string process = process_of_stop_reply(reply);
    if (process.empty())
      return;
    detach_payloads_.front() = "D;" + process;
    send_detach_packets();
  }
  // Another stop reply may be a repeated one, because its `+` was missing. Or it comes from a
  // target that ran until now, and whose stub may have lost the detach packet: on_silence() sees to
  // that.
}

void Release::on_silence(Clock::time_point now) {
  const bool waits = phase_ == Phase::connecting || manner_ == Manner::wait;
  if (now >= deadline_ || phase_ == Phase::leaving) {
    phase_ = Phase::done;
  } else if (!waits && answers_ >= detach_payloads_.size() && output_.empty() &&
             std::ranges::none_of(detach_payloads_, sets_registers)) {
    start_closing();
  } else if (waits || !heard_) {
    // The packet is not lost: a stub that has not even begun to listen finds it in its socket. With
    // a second one QEMU would find two, and QEMU 7.2 crashes over a second detach packet.
    wake_at_ = deadline_;
  } else {
    if (asked_thread_ && now - since_ > unknown) // a stub without qC
      std::erase_if(detach_payloads_, sets_registers);
    send_detach_packets();
    wake_at_ = std::min(now + 4 * quiet, deadline_);
  }
}

void Release::start_closing() {
  // The socket is half-closed first: a full close while the stub still has replies to send becomes
  // a reset, which discards the bytes that the stub has not read.
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

// Each packet goes behind a `+` of its own, which in ack mode acknowledges the reply to the packet
// before.
void Release::send_detach_packets() {
  for (std::string_view payload : detach_payloads_) {
    const bool is_of_thread = sets_registers(payload);
    output_ += '+';
    send_packet(payload.substr(0, is_of_thread ? payload.find(';') : payload.npos));
    if (is_of_thread) { // the rest waits for the answer
      output_ += '+';
      send_packet("qC");
      asked_thread_ = true;
      return;
    }
  }
}

/// The stub has said which thread is selected. An answer that counts comes behind this one.
void Release::set_registers(std::string_view selected) {
  const auto next = std::ranges::find_if(detach_payloads_, sets_registers);
  if (next == detach_payloads_.end())
    return;
  const std::string payload = std::move(*next);
  detach_payloads_.erase(next);
  answers_ = 0;
  asked_thread_ = false;
  const auto registers = registers_in(payload);
  const bool has_returned =
      !ran_ || (!registers.return_place.empty() &&
                stop_.find(':' + std::string(registers.return_place) + ';') != std::string::npos);
  awaits_registers_ = has_returned && is_same_thread(registers.thread, selected);
  if (awaits_registers_) {
    output_ += '+';
    send_packet(registers.packet);
  }
  send_detach_packets();
}

} // namespace mqbridge::rsp::guardian
