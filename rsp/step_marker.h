#pragma once

#include <string_view>

namespace mqbridge::rsp {

/// Asked between reads of memory, to see that replies and requests still pair: a reply that came
/// twice or got lost shows as the wrong answer to this one. Every stub answers an unknown `v`
/// packet with nothing, and GDB refuses to work with one that does not (GDB manual,
/// "vMustReplyEmpty").
inline constexpr std::string_view step_question = "vMustReplyEmpty";

/// No read of memory is answered so. GDB takes OK for nothing, too.
constexpr bool is_step_answer(std::string_view reply) {
  return reply.empty() || reply == "OK";
}

} // namespace mqbridge::rsp
