#pragma once

#include "rsp/transport/transport.h"

#include <chrono>
#include <cstddef>
#include <string_view>

namespace mqbridge::rsp {

/// One reply being waited for.
struct ReplyWait {
  using Clock = Transport::Clock;

  ReplyWait(std::string_view asked, std::chrono::milliseconds silence_limit)
      : request(asked), silence(silence_limit) {}

  std::string_view request;          ///< what it answers; for messages
  std::chrono::milliseconds silence; ///< how long the stub may say nothing
  Clock::time_point begun = Clock::now();
  Clock::time_point last_byte = begun;
  bool acked = false;     ///< the stub has acknowledged the request
  bool defer_ack = false; ///< another request follows at once
  bool unlimited = false; ///< the target runs: only cancel() ends the waiting
  int damaged = 0;        ///< packets received with a wrong checksum
  int refused = 0;        ///< `-` received
  std::size_t garbage = 0;
};

} // namespace mqbridge::rsp
