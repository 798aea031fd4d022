#include "rsp/packet/stop_reply.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using Kind = StopReply::Kind;

struct Case {
  std::string payload;
  Kind kind;
  int number;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
};

TEST(StopReply, IsParsed) {
  const std::vector<Case> cases{
      {"S05", Kind::stopped, 5, {}, {}},
      {"T05", Kind::stopped, 5, {}, {}},
      {"T0506:0*,;thread:p1c6e.1c6f;core:1;", Kind::stopped, 5, 0x1c6e, 0x1c6f},
      {"T00thread:1d3e;", Kind::stopped, 0, {}, 0x1d3e},
      {"T05thread:p1f.-1;", Kind::stopped, 5, 0x1f, {}},
      {"T05thread:p1f;", Kind::stopped, 5, 0x1f, {}},
      {"T11thread:zz;", Kind::stopped, 17, {}, {}}, // a nonsense thread is no thread
      {"T05thread:", Kind::stopped, 5, {}, {}},
      {"T05;;;:;thread", Kind::stopped, 5, {}, {}},
      {"T05library:;thread:p1.2", Kind::stopped, 5, 1, 2}, // no semicolon at the end
      {"W00", Kind::exited, 0, {}, {}},
      {"W2a;process:1d3e", Kind::exited, 42, 0x1d3e, {}},
      {"W100;process:2", Kind::exited, 256, 2, {}},
      {"X09", Kind::signalled, 9, {}, {}},
      {"X0b;process:7;", Kind::signalled, 11, 7, {}},
      {"X09;process:ffffffffffffffff", Kind::signalled, 9, {}, {}},
      {"N", Kind::none, 0, {}, {}},
  };
  for (const Case& wanted : cases) {
    const auto reply = parse_stop_reply(wanted.payload);
    ASSERT_TRUE(reply) << wanted.payload << ": " << reply.error().message;
    EXPECT_EQ(reply->kind, wanted.kind) << wanted.payload;
    EXPECT_EQ(reply->signal_or_status, wanted.number) << wanted.payload;
    EXPECT_EQ(reply->pid, wanted.pid) << wanted.payload;
    EXPECT_EQ(reply->tid, wanted.tid) << wanted.payload;
  }
}

TEST(StopReply, NonsenseIsGarbage) {
  for (const std::string payload :
       {"", ";W01", "S", "T0", "Txx", "Wxy", "W;process:1", "X-1", "OK", "E01", "m1234", "Q05",
        "Wffffffffffffffffff", "W80000000", "T\xff\x80thread:p1.1;"}) {
    const auto reply = parse_stop_reply(payload);
    ASSERT_FALSE(reply) << payload;
    EXPECT_EQ(reply.error().code, "stub.garbage") << payload;
  }
}

} // namespace
} // namespace mqbridge::rsp
