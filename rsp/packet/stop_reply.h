#pragma once

#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// What a stub says of a process that stopped or ended: S, T, W, X, N.
struct StopReply {
  enum class Kind : std::uint8_t { stopped, exited, signalled, none };
  Kind kind = Kind::none;
  int signal_or_status = 0;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
};

/// Errors: stub.garbage.
Result<StopReply> parse_stop_reply(std::string_view payload);

} // namespace mqbridge::rsp
