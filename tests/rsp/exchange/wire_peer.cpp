#include "tests/rsp/exchange/wire_peer.h"

#include "rsp/transport/socket_transport.h"

#include <array>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

constexpr int patience_ms = 5000;

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd waiting{fd, events, 0};
  return ::poll(&waiting, 1, timeout_ms) == 1;
}

} // namespace

WirePeer::WirePeer() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    fd_ = ends[0];
    client_fd_ = ends[1];
  }
}

WirePeer::~WirePeer() {
  finish();
  close();
  if (client_fd_ >= 0)
    ::close(client_fd_);
}

std::unique_ptr<Connection> WirePeer::connect(ConnectionOptions options) {
  if (options.name.empty())
    options.name = "peer";
  auto transport = SocketTransport::adopt(UniqueFd(std::exchange(client_fd_, -1)));
  return std::make_unique<Connection>(std::move(transport).value(), std::move(options));
}

void WirePeer::play(std::function<void(WirePeer&)> part) {
  finish();
  thread_ = std::thread([this, part = std::move(part)] { part(*this); });
}

void WirePeer::finish() {
  if (thread_.joinable())
    thread_.join();
}

void WirePeer::expect(std::string_view bytes) {
  std::string got;
  while (got.size() < bytes.size()) {
    std::array<char, 4096> chunk;
    const std::size_t want = std::min(chunk.size(), bytes.size() - got.size());
    const ssize_t count =
        wait_for(fd_, POLLIN, patience_ms) ? ::recv(fd_, chunk.data(), want, 0) : 0;
    if (count <= 0)
      break;
    got.append(chunk.data(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(got, bytes);
}

std::string WirePeer::read_some() {
  std::array<char, 65536> chunk;
  const ssize_t count =
      wait_for(fd_, POLLIN, patience_ms) ? ::recv(fd_, chunk.data(), chunk.size(), 0) : 0;
  return count <= 0 ? std::string() : std::string(chunk.data(), static_cast<std::size_t>(count));
}

void WirePeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0)
      return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool WirePeer::is_quiet_for(std::chrono::milliseconds time) {
  return !wait_for(fd_, POLLIN, static_cast<int>(time.count()));
}

void WirePeer::close() {
  if (fd_ >= 0)
    ::close(std::exchange(fd_, -1));
}

} // namespace mqbridge::rsp
