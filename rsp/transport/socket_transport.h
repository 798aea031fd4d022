#pragma once

#include "rsp/transport/transport.h"

#include <memory>

namespace mqbridge::rsp {

/// A connected stream socket of any family, driven by the I/O thread.
class SocketTransport final : public Transport {
public:
  /// Owns `fd` from now on.
  explicit SocketTransport(int fd);
  ~SocketTransport() override;
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  void send(const Outgoing& bytes) override;
  Received receive(Clock::time_point deadline) override;
  void wake() override;

private:
  class Stream;
  std::shared_ptr<Stream>
      stream_; ///< shared with the handlers that the I/O thread still has to run
};

} // namespace mqbridge::rsp
