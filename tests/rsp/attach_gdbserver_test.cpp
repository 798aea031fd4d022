#include "rsp/commands/attach.h"
#include "rsp/commands/memory.h"
#include "rsp/commands/threads.h"
#include "tests/support/connected.h"
#include "tests/support/gdbserver_process.h"

#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::connected;
using test::GdbserverProcess;
using test::ServerMode;
using testing::HasSubstr;

class AttachGdbserver : public testing::TestWithParam<ServerMode> {};

TEST_P(AttachGdbserver, StopsLooksAndLetsGo) {
  const GdbserverProcess server(GetParam());
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
                         [](const auto& mode) { return std::string(test::name_of(mode.param)); });

Endpoint at_process(const GdbserverProcess& server, std::int64_t pid) {
  Endpoint endpoint = server.endpoint();
  endpoint.pid = pid;
  return endpoint;
}

TEST(AttachMulti, OneProcessAfterTheOther) {
  const GdbserverProcess server(ServerMode::multi);
  const test::Inferior second;
  for (const std::int64_t pid : {std::int64_t{server.inferior()}, std::int64_t{second.pid()},
                                 std::int64_t{server.inferior()}}) {
    const auto client = connected(at_process(server, pid));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_TRUE(attachment) << attachment.error().message;
    EXPECT_EQ(attachment->pid, pid);
    ASSERT_TRUE(detach(*client));
    EXPECT_TRUE(test::runs_within(static_cast<pid_t>(pid), 2s));
  }
}

TEST(AttachMulti, RefusalsAreToldApartAndTheServerGoesOn) {
  const GdbserverProcess server(ServerMode::multi);
  {
    const auto client = connected(at_process(server, 999'999'999));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_FALSE(attachment);
    EXPECT_EQ(attachment.error().code, "attach.no_such_process") << attachment.error().message;
  }
  const GdbserverProcess other(ServerMode::attach);
  {
    const auto client = connected(at_process(server, other.inferior()));
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
  ASSERT_EQ(setenv("PMI_RANK", "0", 1), 0);
  const GdbserverProcess server(ServerMode::multi); // its inferior looks like a rank
  unsetenv("PMI_RANK");
  Endpoint endpoint = server.endpoint();
  endpoint.pid.reset();
  const auto client = connected(endpoint);
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_FALSE(attachment);
  EXPECT_EQ(attachment.error().code, "attach.no_process");
  EXPECT_THAT(attachment.error().message, HasSubstr(fmt::format("{}  rank 0", server.inferior())));
}

} // namespace
} // namespace mqbridge::rsp
