#pragma once

#include "rsp/transport/transport.h"
#include "rsp/unique_fd.h"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace mqbridge::rsp {

/// What all transports on a descriptor share: the calling thread itself waits in poll(), for
/// reading and for what is still to be written at once. An exchange is one request and one answer:
/// handing both to another thread and back would cost more than the exchange itself.
class StreamTransport : public Transport {
public:
  void send(const Outgoing& bytes) final;
  Received receive(Clock::time_point deadline) final;
  void wake() final;

protected:
  /// An event descriptor. Error: connect.failed, when there are no descriptors left.
  static Result<UniqueFd> make_wakeup();

  StreamTransport(UniqueFd fd, UniqueFd wakeup) : fd_(std::move(fd)), wakeup_(std::move(wakeup)) {}
  int descriptor() const { return fd_.get(); }

private:
  /// As write(2) and read(2), but never blocking and without SIGPIPE.
  virtual ssize_t write_now(std::string_view bytes) = 0;
  virtual ssize_t read_now(char* into, std::size_t size) = 0;

  void write_some();
  std::optional<Received> read_some();
  bool take_wakeup();

  UniqueFd fd_;
  UniqueFd wakeup_;
  std::string outbox_;
  std::optional<std::string> end_; ///< how the connection ended
  std::array<char, std::size_t{64} << 10> chunk_;
};

} // namespace mqbridge::rsp
