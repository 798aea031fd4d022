#include "tests/e2e/harness/loopback.h"

#include <cerrno>
#include <fmt/format.h>
#include <list>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace mqbridge::e2e {
namespace {

[[noreturn]] void give_up(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int tcp_socket() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    give_up("socket");
  return descriptor;
}

std::uint16_t bind_loopback(int descriptor) {
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    give_up("bind");
  return ntohs(address.sin_port);
}

} // namespace

LoopbackSocket::~LoopbackSocket() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

LoopbackSocket::LoopbackSocket(LoopbackSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

LoopbackSocket connect_loopback(std::uint16_t port) {
  LoopbackSocket made(tcp_socket());
  const sockaddr_in address = loopback_address(port);
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up("connect");
  return made;
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::uint16_t unused_port() {
  const LoopbackSocket taken(tcp_socket());
  return bind_loopback(taken.get());
}

FakeServer::FakeServer(std::function<void(int)> serve)
    : serve_(std::move(serve)), listener_(tcp_socket()) {
  port_ = bind_loopback(listener_);
  if (listen(listener_, 8) != 0)
    give_up("listen");
  acceptor_ = std::thread([this] { accept_loop(); });
}

FakeServer::~FakeServer() {
  ending_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
}

std::string FakeServer::endpoint() const {
  return fmt::format("127.0.0.1:{}", port_);
}

void FakeServer::accept_loop() {
  std::list<LoopbackSocket> sockets;
  std::list<std::thread> threads;
  while (!ending_) {
    const int accepted = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0)
      break;
    sockets.emplace_back(accepted);
    threads.emplace_back([this, accepted] {
      serve_(accepted);
      shutdown(accepted, SHUT_RDWR);
    });
  }
  for (const LoopbackSocket& socket : sockets)
    shutdown(socket.get(), SHUT_RDWR);
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace mqbridge::e2e
