#include "rsp/commands/attach.h"
#include "rsp/commands/life_check.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/scripted_stub.h"

#include <csignal>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;

constexpr std::uint64_t address = 0x5000;

/// A stub with a process, of which one byte was read.
struct Held {
  explicit Held(ScriptedStub& stub) {
    stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;")).on("D;1d3e", Answer::packet("OK"));
    client = connected(stub);
    if (client && attach(*client))
      client->life().could_read(address);
  }
  std::unique_ptr<Client> client;
};

TEST(ProcessLife, AByteThatCanBeReadAgainSaysThatItIsThere) {
  ScriptedStub stub;
  stub.on("m5000,1", Answer::packet("7f"));
  const Held held(stub);
  const auto there = expect_alive(*held.client);
  EXPECT_TRUE(there) << there.error().message;
  EXPECT_FALSE(held.client->life().ended());
}

TEST(ProcessLife, AByteThatCannotSaysThatItHasEnded) {
  ScriptedStub stub;
  stub.on("m5000,1", Answer::packet("E01"));
  const Held held(stub);
  const auto there = expect_alive(*held.client);
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, "target.died");
  EXPECT_TRUE(held.client->life().ended());
}

/// gdbserver's answer to `D` is OK, whether or not the process is there.
TEST(ProcessLife, IsAskedTogetherWithTheDetaching) {
  for (const bool alive : {true, false}) {
    ScriptedStub stub;
    stub.on("m5000,1", Answer::packet(alive ? "7f" : "E01"));
    const Held held(stub);
    const auto before = held.client->counters().round_trips;
    ASSERT_TRUE(detach(*held.client));
    EXPECT_EQ(held.client->counters().round_trips - before, 1U);
    EXPECT_EQ(stub.count("m5000,1"), 1U);
    EXPECT_EQ(held.client->life().ended(), !alive);
  }
}

TEST(ProcessLife, ADetachThatIsAnsweredWithItsEndSaysSo) {
  for (const char* reply : {"W00;process:1d3e", "X09;process:1d3e"}) {
    ScriptedStub stub;
    stub.on("m5000,1", Answer::packet("7f"));
    const Held held(stub);
    stub.on("D;1d3e", Answer::packet(reply));
    ASSERT_TRUE(detach(*held.client));
    EXPECT_TRUE(held.client->life().ended()) << reply;
  }
}

/// Killed before a byte of it was read: the kernel knows, and this gdbserver does not.
TEST(ProcessLife, OfWhatWasNeverReadIsKnownFromItsState) {
  const test::GdbServer server(test::ServerMode::attach_once);
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  const auto before = expect_alive(*client);
  EXPECT_TRUE(before) << before.error().message;
  ::kill(server.inferior(), SIGKILL);
  ASSERT_TRUE(test::eventually(std::chrono::seconds(5),
                               [&] { return test::process_state(server.inferior()) == 'Z'; }));
  const auto after = expect_alive(*client);
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, "target.died");
}

} // namespace
} // namespace mqbridge::rsp
