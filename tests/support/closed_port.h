#pragma once

#include <cstdint>
#include <string>

namespace mqbridge::test {

/// A loopback port on which nobody listens, and nobody else can as long as this lives: a connection
/// to it is refused.
class ClosedPort {
public:
  ClosedPort(); ///< throws std::system_error
  ~ClosedPort();
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  std::string endpoint() const; ///< "127.0.0.1:PORT"

private:
  int socket_;
  std::uint16_t port_ = 0;
};

} // namespace mqbridge::test
