#pragma once

#include "bench/peers/answer_checksum.h"
#include "rsp/result.h"
#include "rsp/seconds.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge::peers {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::duration duration) {
  return in_seconds(duration);
}

/// The one line that a peer prints (README.md). `more`: further members, each with a comma before.
inline void report(std::string_view tool, Clock::duration walk, Clock::duration total,
                   AnswerChecksum& answer, std::string_view more = {}) {
  fmt::print(R"({{"tool":"{}","walk_s":{:.6f},"total_s":{:.6f},"operations":{},"checksum":"{}"{}}})"
             "\n",
             tool, seconds(walk), seconds(total), answer.operations(), answer.text(), more);
}

inline int complain(std::string_view tool, const Error& error) {
  fmt::print(stderr, "{}: {}: {}\n", tool, error.code, error.message);
  if (!error.hint.empty())
    fmt::print(stderr, "fix: {}\n", error.hint);
  return 1;
}

} // namespace mqbridge::peers
