#include "host/confined/messages.h"

#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace mqbridge::wire {

Encoder& Encoder::text(std::string_view text) {
  text = text.substr(0, max_text);
  put(static_cast<std::uint32_t>(text.size()));
  return raw(text.data(), text.size());
}

Encoder& Encoder::bytes(std::span<const std::byte> bytes) {
  return raw(bytes.data(), bytes.size());
}

std::span<const std::byte> Decoder::take(std::size_t size) {
  if (!ok_ || size > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  auto taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::string Decoder::text() {
  auto size = get<std::uint32_t>();
  if (size > max_text) {
    refuse();
    return {};
  }
  auto bytes = take(size);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace {

bool send_whole(int socket, const msghdr& header, std::size_t size, int flags) {
  ssize_t sent;
  do {
    sent = ::sendmsg(socket, &header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0 && static_cast<std::size_t>(sent) == size;
}

/// If nothing was received, that is the end, or an empty datagram, which anybody may send.
bool is_at_end(int socket) {
  pollfd closed{socket, 0, 0}; // POLLHUP alone: the other end is gone
  int unread = 0;
  return ::poll(&closed, 1, 0) != 0 && (::ioctl(socket, FIONREAD, &unread) != 0 || unread == 0);
}

Received receive(int socket, msghdr& header, std::span<std::byte> buffer, int flags) {
  using Outcome = Received::Outcome;
  ssize_t size;
  do {
    size = ::recvmsg(socket, &header, flags);
    // ECONNRESET comes once, if the other end closed with something unread. The messages that the
    // other end had sent come after it.
  } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return {Outcome::nothing, {}};
  if (size < 0 || (size == 0 && is_at_end(socket)))
    return {Outcome::closed, {}};
  if ((header.msg_flags & MSG_TRUNC) != 0)
    return {Outcome::too_long, {}};
  return {Outcome::message, buffer.first(static_cast<std::size_t>(size))};
}

/// A datagram of one piece, and room for one descriptor beside it.
struct Datagram {
  explicit Datagram(std::span<std::byte> bytes) : piece{bytes.data(), bytes.size()} {
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
  }
  /// sendmsg() takes pointers without const, although it never writes there.
  explicit Datagram(std::span<const std::byte> bytes)
      : Datagram(std::span(const_cast<std::byte*>(bytes.data()), bytes.size())) {}
  Datagram(const Datagram&) = delete;
  Datagram& operator=(const Datagram&) = delete;

  void make_room_for_descriptor() {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }

  iovec piece;
  msghdr header{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
};

} // namespace

bool send_message(int socket, std::span<const std::byte> message, bool wait) {
  const Datagram datagram(message);
  return send_whole(socket, datagram.header, message.size(), wait ? 0 : MSG_DONTWAIT);
}

bool send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor) {
  Datagram datagram(message);
  datagram.make_room_for_descriptor();
  cmsghdr* about = CMSG_FIRSTHDR(&datagram.header);
  about->cmsg_level = SOL_SOCKET;
  about->cmsg_type = SCM_RIGHTS;
  about->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(about), &descriptor, sizeof descriptor);
  return send_whole(socket, datagram.header, message.size(), MSG_DONTWAIT);
}

Received receive_message(int socket, std::span<std::byte> buffer, bool wait) {
  Datagram datagram(buffer);
  return receive(socket, datagram.header, buffer, wait ? 0 : MSG_DONTWAIT);
}

Received receive_with_descriptor(int socket, std::span<std::byte> buffer, int& descriptor) {
  Datagram datagram(buffer);
  datagram.make_room_for_descriptor();
  descriptor = -1;
  const auto received = receive(socket, datagram.header, buffer, MSG_CMSG_CLOEXEC);
  const cmsghdr* about = CMSG_FIRSTHDR(&datagram.header);
  if (received.outcome == Received::Outcome::message && about != nullptr &&
      about->cmsg_level == SOL_SOCKET && about->cmsg_type == SCM_RIGHTS &&
      about->cmsg_len == CMSG_LEN(sizeof descriptor))
    std::memcpy(&descriptor, CMSG_DATA(about), sizeof descriptor);
  return received;
}

} // namespace mqbridge::wire
