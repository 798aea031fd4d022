#include "tests/support/closed_port.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace mqbridge::test {
namespace {

void check(int result) {
  if (result < 0)
    throw std::system_error(errno, std::generic_category(), "a closed port");
}

} // namespace

ClosedPort::ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  check(socket_);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  check(::bind(socket_, generic, size)); // the kernel chooses the port; listen() is left out
  check(::getsockname(socket_, generic, &size));
  port_ = ntohs(address.sin_port);
}

ClosedPort::~ClosedPort() {
  ::close(socket_);
}

std::string ClosedPort::endpoint() const {
  return "127.0.0.1:" + std::to_string(port_);
}

} // namespace mqbridge::test
