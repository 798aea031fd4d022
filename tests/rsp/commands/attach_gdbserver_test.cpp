#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/commands/threads.h"
#include "tests/support/connected.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::connected;
using test::GdbServer;
using test::ServerMode;
using testing::HasSubstr;

class AttachGdbserver : public testing::TestWithParam<ServerMode> {};

TEST_P(AttachGdbserver, StopsLooksAndLetsGo) {
  const GdbServer server(GetParam());
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_EQ(attachment->pid, server.inferior());
  EXPECT_EQ(attachment->stopped_before_us, GetParam() != ServerMode::multi);
  EXPECT_TRUE(test::is_stopped(server.inferior()));

  const auto threads = read_threads(*client);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 1);
  EXPECT_EQ(threads->front().pid, server.inferior());

  std::vector<std::byte> into(16);
  ReadRequest nothing{0, into};
  ASSERT_TRUE(read_memory(*client, {&nothing, 1}));
  EXPECT_EQ(nothing.read, 0);

  const auto released = detach(*client);
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE(test::runs_within(server.inferior(), 2s));
}

INSTANTIATE_TEST_SUITE_P(EveryMode, AttachGdbserver,
                         testing::Values(ServerMode::attach, ServerMode::attach_once,
                                         ServerMode::multi, ServerMode::spawned,
                                         ServerMode::spawned_once, ServerMode::stdio),
                         [](const auto& mode) { return to_string(mode.param); });

std::string attached_to(const GdbServer& server, std::int64_t pid) {
  return fmt::format("127.0.0.1:{}@{}", server.port(), pid);
}

TEST(AttachMulti, OneProcessAfterTheOther) {
  const GdbServer server(ServerMode::multi);
  const test::ChildProcess second({{test::inferior_program()}});
  for (const std::int64_t pid : {std::int64_t{server.inferior()}, std::int64_t{second.pid()},
                                 std::int64_t{server.inferior()}}) {
    const auto client = connected(attached_to(server, pid));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_TRUE(attachment) << attachment.error().message;
    EXPECT_EQ(attachment->pid, pid);
    ASSERT_TRUE(detach(*client));
    EXPECT_TRUE(test::runs_within(static_cast<pid_t>(pid), 2s));
  }
}

TEST(AttachMulti, RefusalsAreToldApartAndTheServerGoesOn) {
  const GdbServer server(ServerMode::multi);
  {
    const auto client = connected(attached_to(server, 999'999'999));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_FALSE(attachment);
    EXPECT_EQ(attachment.error().code, "attach.no_such_process") << attachment.error().message;
  }
  const GdbServer other(ServerMode::attach);
  {
    const auto client = connected(attached_to(server, other.inferior()));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_FALSE(attachment);
    EXPECT_EQ(attachment.error().code, "ptrace.traced");
    EXPECT_THAT(attachment.error().message, HasSubstr("gdbserver (process"));
  }
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  EXPECT_TRUE(attach(*client));
}

TEST(AttachMulti, WithoutAPidItListsTheProcessesAndKnowsRanks) {
  const GdbServer server(ServerMode::multi, {{test::inferior_program()}, {{"PMI_RANK", "0"}}});
  const auto client = connected(fmt::format("127.0.0.1:{}", server.port()));
  ASSERT_TRUE(client);
  constexpr std::array<std::string_view, 1> variables{"PMI_RANK"};
  const auto attachment = attach(*client, {.rank_variables = variables});
  ASSERT_FALSE(attachment);
  EXPECT_EQ(attachment.error().code, "attach.no_process");
  EXPECT_THAT(attachment.error().message, HasSubstr(fmt::format("{}  rank 0", server.inferior())));
}

} // namespace
} // namespace mqbridge::rsp
