#pragma once

#include "rsp/transport/transport.h"
#include "rsp/transport/unique_fd.h"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace mqbridge::rsp {

/// A connected stream socket of any family.
///
/// The calling thread itself waits in poll(), for reading and for what is still to be written at
/// once. An exchange is one request and one answer: handing both to another thread and back would
/// cost more than the exchange itself.
class SocketTransport final : public Transport {
public:
  /// Owns `fd` from now on. Error: connect.failed, when there are no descriptors left.
  static Result<std::unique_ptr<SocketTransport>> adopt(UniqueFd fd);

  void send(const Outgoing& bytes) override;
  Received receive(Clock::time_point deadline) override;
  void wake() override;

private:
  SocketTransport(UniqueFd fd, UniqueFd wakeup) : fd_(std::move(fd)), wakeup_(std::move(wakeup)) {}

  void write_some();
  std::optional<Received> read_some();
  bool take_wakeup();

  UniqueFd fd_;
  UniqueFd wakeup_; ///< an eventfd
  std::string outbox_;
  std::optional<std::string> end_; ///< how the connection ended
  std::array<char, std::size_t{64} << 10> chunk_;
};

} // namespace mqbridge::rsp
