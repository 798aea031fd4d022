#include "tests/support/stub_listener.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace mqbridge::test {

int listen_on_loopback(std::string& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 8) != 0 ||
      getsockname(listener, generic, &size) != 0)
    ADD_FAILURE() << "the scripted stub cannot listen";
  port = std::to_string(ntohs(address.sin_port));
  return listener;
}

int listen_on_path(std::string& path) {
  std::string pattern = testing::TempDir() + "/mqbridge-stub-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    ADD_FAILURE() << "no directory for the scripted stub's socket";
  path = pattern + "/socket";
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 8) != 0)
    ADD_FAILURE() << "the scripted stub cannot listen on " << path;
  return listener;
}

void remove_listening_path(const std::string& path) {
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

int connect_to_loopback(const std::string& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    ADD_FAILURE() << "nobody listens on port " << port;
  return fd;
}

} // namespace mqbridge::test
