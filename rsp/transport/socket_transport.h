#pragma once

#include "rsp/transport/stream_transport.h"

#include <memory>

namespace mqbridge::rsp {

/// A connected stream socket of any family.
class SocketTransport final : public StreamTransport {
public:
  /// Owns `fd` from now on. Error: connect.failed, when there are no descriptors left.
  static Result<std::unique_ptr<SocketTransport>> adopt(UniqueFd fd);

  void end() override;

private:
  using StreamTransport::StreamTransport;

  ssize_t write_now(std::string_view bytes) override;
  ssize_t read_now(char* into, std::size_t size) override;
};

} // namespace mqbridge::rsp
