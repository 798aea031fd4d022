#include "tests/support/real_stub.h"

#include "tests/support/eventually.h"
#include "tests/support/stub_listener.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  if (const auto at = text.find(what); at != std::string::npos)
    text.replace(at, what.size(), by);
  return text;
}

std::string free_port() {
  std::string port;
  close(listen_on_loopback(port));
  return port;
}

/// Whether one line of `file` has both texts. What listens is looked up in /proc/net, whose
/// formats proc(5) has: connecting to find out would be a client.
bool has_line(const char* file, const std::string& one, const std::string& other) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.find(one) != std::string::npos && line.find(other) != std::string::npos)
      return true;
  }
  return false;
}

bool listens_on_port(const std::string& port) {
  return has_line("/proc/net/tcp", fmt::format(":{:04X} ", std::stoi(port)), " 00000000:0000 0A ");
}

bool listens_on_path(const std::string& path) {
  constexpr const char* accepts_connections = " 00010000 ";
  return has_line("/proc/net/unix", " " + path, accepts_connections);
}

} // namespace

RealStub::RealStub(std::vector<std::string> argv) {
  for (std::string& word : argv) {
    if (word.find("{port}") != std::string::npos) {
      port_ = free_port();
      word = replaced(word, "{port}", port_);
    } else if (word.find("{socket}") != std::string::npos) {
      socket_ = directory_ / "stub";
      word = replaced(word, "{socket}", socket_);
    }
  }
  endpoint_ = port_.empty() ? "unix:" + socket_ : "127.0.0.1:" + port_;
  process_.emplace(ChildSpec{std::move(argv)});
  const bool listening = eventually(20s, [this] {
    return process_->wait(0ms) ||
           (port_.empty() ? listens_on_path(socket_) : listens_on_port(port_));
  });
  if (!listening || process_->wait(0ms))
    throw std::runtime_error("the stub does not listen: " + process_->out() + process_->err());
}

int RealStub::connect() const {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::generic_category(), socket_);
  return fd;
}

std::string lacking_program(const std::string& program, const std::string& packages) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (access((std::filesystem::path(directory) / program).c_str(), X_OK) == 0)
      return "";
  }
  return fmt::format("no {}: apt install {}", program, packages);
}

} // namespace mqbridge::test
