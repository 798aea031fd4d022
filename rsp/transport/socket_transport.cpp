#include "rsp/transport/socket_transport.h"

#include <sys/socket.h>
#include <utility>

namespace mqbridge::rsp {

Result<std::unique_ptr<SocketTransport>> SocketTransport::adopt(UniqueFd fd) {
  auto wakeup = make_wakeup();
  if (!wakeup)
    return forward(std::move(wakeup));
  const int buffer =
      2 * static_cast<int>(min_send_buffer); // the kernel counts its own overhead too
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
  return std::unique_ptr<SocketTransport>(new SocketTransport(std::move(fd), std::move(*wakeup)));
}

void SocketTransport::end() {
  ::shutdown(descriptor(), SHUT_RDWR);
}

ssize_t SocketTransport::write_now(std::string_view bytes) {
  return ::send(descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t SocketTransport::read_now(char* into, std::size_t size) {
  return ::recv(descriptor(), into, size, MSG_DONTWAIT);
}

} // namespace mqbridge::rsp
