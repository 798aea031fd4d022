// The table of quirks against the stubs themselves. gdbserver and QEMU user have tests of their
// own.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/commands/threads.h"
#include "rsp/exchange/connection.h"
#include "tests/rsp/read_text.h"
#include "tests/support/child_process.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::connected;
using test::mapping_of;
using test::memory_of;
using test::RealStub;

/// Drops the client as a lost network does: without a word.
void vanish(std::unique_ptr<Client>& client) {
  client->released();
  client.reset();
}

class LldbServer : public testing::Test {
protected:
  void SetUp() override {
    MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("lldb-server", "lldb"));
    inferior.emplace(test::ChildSpec{{test::inferior_program()}});
    stub.emplace(std::vector<std::string>{"lldb-server", "gdbserver", "127.0.0.1:{port}",
                                          "--attach", std::to_string(inferior->pid())});
  }
  std::optional<ChildProcess> inferior;
  std::optional<RealStub> stub;
};

TEST_F(LldbServer, IsKnownReadAndLetGo) {
  const auto client = connected(stub->endpoint());
  ASSERT_TRUE(client);
  const Features& features = client->features();
  EXPECT_EQ(features.kind, StubKind::lldb_server);
  EXPECT_EQ(features.packet_size, 131'072U); // as it announces: in decimal
  EXPECT_EQ(features.binary_read, BinaryRead::lldb);
  const auto attached = attach(*client);
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_EQ(attached->stop.tid, inferior->pid()); // it names threads, and no process
  const auto threads = read_threads(*client);
  ASSERT_TRUE(threads) << threads.error().message;
  EXPECT_EQ(threads->size(), 1U);

  constexpr std::size_t size = 200 * 1024; // more than one request takes
  const auto text = mapping_of(inferior->pid(), "r-xp");
  const auto libc = mapping_of(inferior->pid(), "libc.so.6");
  EXPECT_TRUE(read_text(*client, text, 4096) == memory_of(inferior->pid(), text, 4096));
  EXPECT_TRUE(read_text(*client, libc + 1, 150'000) ==
              memory_of(inferior->pid(), libc + 1, 150'000));
  // Short reads end at the hole behind the stack's top mapping, to the byte.
  const auto stack = mapping_of(inferior->pid(), "[stack]");
  const auto all = read_text(*client, stack, size);
  EXPECT_GT(all.size(), 4096U);
  EXPECT_EQ(all.size() % 4096, 0U);
  EXPECT_LT(all.size(), size);

  const auto detached = detach(*client);
  EXPECT_TRUE(detached) << detached.error().message;
  EXPECT_TRUE(test::runs_within(inferior->pid(), 5s));
}

TEST_F(LldbServer, ItsTargetRunsOnWhenTheClientVanishes) {
  auto client = connected(stub->endpoint());
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().lost_link, LostLink::runs);
  ASSERT_TRUE(attach(*client));
  vanish(client);
  EXPECT_TRUE(test::runs_within(inferior->pid(), 5s));
}

/// Valgrind's own stub: `vgdb` passes packets on between its stdio and the process.
TEST(Vgdb, IsKnownAndReadInWhatItsBufferTakes) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("vgdb", "valgrind"));
  test::TempDirectory pipes;
  const auto prefix = "--vgdb-prefix=" + (pipes / "vgdb").string();
  const ChildProcess process(
      {{"valgrind", "--vgdb=yes", "--vgdb-error=0", prefix, test::inferior_program()}});
  const bool ready = test::eventually(
      30s, [&process] { return process.err().find("TO DEBUG THIS PROCESS") != std::string::npos; });
  ASSERT_TRUE(ready) << process.err();
  const auto client =
      connected(fmt::format("exec:vgdb {} --wait=10 --pid={}", prefix, process.pid()));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().kind, StubKind::vgdb);
  ASSERT_TRUE(attach(*client));
  // Full-size requests for what run lengths cannot shorten: too long a reply, and it hangs up.
  const auto text = mapping_of(process.pid(), "ld-linux");
  ASSERT_NE(text, 0U);
  EXPECT_TRUE(read_text(*client, text, 100'000) == memory_of(process.pid(), text, 100'000));
  const auto detached = detach(*client);
  EXPECT_TRUE(detached) << detached.error().message;
}

/// A bare-metal target that OpenOCD only pretends to reach: no process, no memory map, and zeros
/// wherever a read fails.
TEST(OpenOcd, IsKnownAndItsZerosAreMarked) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("openocd", "openocd"));
  const RealStub stub(
      {"openocd", "-c",
       "adapter driver dummy; transport select jtag; adapter speed 1000; "
       "jtag newtap t cpu -irlen 5; target create t.cpu mips_m4k -chain-position t.cpu; "
       "gdb_port {port}; telnet_port disabled; tcl_port disabled"});
  const auto client = connected(stub.endpoint());
  ASSERT_TRUE(client);
  const Features& features = client->features();
  EXPECT_EQ(features.kind, StubKind::openocd);
  EXPECT_TRUE(features.unreadable_reads_zero);
  EXPECT_TRUE(features.no_ack);
  EXPECT_FALSE(features.qxfer_auxv || features.qxfer_libraries_svr4 || features.vfile);
  const auto attached = attach(*client);
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_EQ(attached->pid, 0);
  EXPECT_EQ(read_text(*client, 0x1000, 5000), std::string(5000, '\0')); // there is nothing to read
  const auto detached = detach(*client);
  EXPECT_TRUE(detached) << detached.error().message;
}

} // namespace
} // namespace mqbridge::rsp
