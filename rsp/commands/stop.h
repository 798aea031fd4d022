#pragma once

#include "rsp/client/client.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// A parsed stop reply: S, T, W, X, N.
struct StopReply {
  enum class Kind : std::uint8_t { stopped, exited, signalled, none };
  Kind kind = Kind::none;
  int signal_or_status = 0;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
};

Result<StopReply> parse_stop_reply(std::string_view payload);

} // namespace mqbridge::rsp
