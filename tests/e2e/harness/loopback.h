#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace mqbridge::e2e {

/// A socket descriptor, closed at the end.
class LoopbackSocket {
public:
  explicit LoopbackSocket(int descriptor) : descriptor_(descriptor) {}
  ~LoopbackSocket();
  LoopbackSocket(LoopbackSocket&& other) noexcept;
  LoopbackSocket& operator=(LoopbackSocket&&) = delete;

  int get() const { return descriptor_; }

private:
  int descriptor_;
};

/// Throws std::system_error.
LoopbackSocket connect_loopback(std::uint16_t port);

/// Sends all or stops quietly when the other side has gone.
void send_all(int socket, std::string_view bytes);

/// A loopback port on which nobody listens (one was there a moment ago).
std::uint16_t unused_port();

/// Something that listens and is not a gdbserver. `serve` runs in a thread for each connection and
/// should return when recv() says that the other side has gone; sockets are shut down when the
/// server is destroyed.
class FakeServer {
public:
  explicit FakeServer(std::function<void(int socket)> serve);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string endpoint() const;

private:
  void accept_loop();

  std::function<void(int)> serve_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread acceptor_;
};

} // namespace mqbridge::e2e
