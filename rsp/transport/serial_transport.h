#pragma once

#include "rsp/transport/endpoint.h"
#include "rsp/transport/serial_line.h"
#include "rsp/transport/stream_transport.h"

#include <memory>

namespace mqbridge::rsp {

/// A stub at the other end of a serial line.
///
/// The line belongs to this transport alone (flock, and TIOCEXCL for programs that do not lock),
/// also while the guardian has something to release on it. When the transport closes, it puts the
/// line's settings back, unless the guardian still needs the line.
class SerialTransport final : public StreamTransport {
public:
  /// Errors: connect.failed (no such device, no permission, no serial device, a speed that it does
  /// not have), connect.busy (another program has it).
  static Result<std::unique_ptr<SerialTransport>> open(const Endpoint& endpoint,
                                                       const SerialEndpoint& where);
  ~SerialTransport() override;

  LinkLimits limits() const override;
  void released() override { released_ = true; }
  /// For the guardian's duplicate.
  int guarded_descriptor() const { return descriptor(); }

private:
  SerialTransport(UniqueFd fd, UniqueFd wakeup, const SerialSettings& before, std::uint32_t baud)
      : StreamTransport(std::move(fd), std::move(wakeup)), before_(before), baud_(baud) {}

  ssize_t write_now(std::string_view bytes) override;
  ssize_t read_now(char* into, std::size_t size) override;

  SerialSettings before_;
  std::uint32_t baud_;
  bool released_ = false;
};

} // namespace mqbridge::rsp
