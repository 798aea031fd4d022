// The files of a node through a stub.

#include "host/job/node_files.h"
#include "host/job/node_scan.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(StubFiles, AStubThatIsLostOverAnEnvironmentRepeatsNothingOfIt) {
  ScriptedStub stub;
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F5"));
  const std::string secret = "API_TOKEN=secret";
  int reads = 0;
  stub.on("vFile:pread:", [&](std::string_view) {
    return ++reads == 1 ? Answer::packet(fmt::format("F{:x};", secret.size()) + secret)
                        : Answer::close();
  });
  const auto client = connected(stub);
  StubFiles files(*client);
  const std::vector<rsp::FileStart> wanted{{"/proc/7/environ", 4096, true},
                                           {"/proc/8/environ", 4096, true}};
  const auto done = files.read(wanted, [](std::size_t, const rsp::FileText&) {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "stub.closed");
  EXPECT_THAT(done.error().message, Not(HasSubstr("secret")));
  // The stub's own errors do, for whoever has no secrets to keep.
  EXPECT_THAT(client->request("?").error().message, HasSubstr("secret"));
}

TEST(StubFiles, AStubThatListsNoProcessesIsAnError) {
  ScriptedStub stub;
  const auto client = connected(stub);
  StubFiles files(*client);
  const auto processes = files.processes();
  ASSERT_FALSE(processes);
  EXPECT_EQ(processes.error().code, "node.no_processes");
}

TEST(StubFiles, OfARealGdbserverAreThoseOfThisHostInFewRoundTrips) {
  const auto client = connected("exec:exec gdbserver --once --multi - 2>/dev/null");
  ASSERT_TRUE(client);
  client->released();
  StubFiles there(*client);
  LocalFiles here;
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(scan_node(there, "n7"));
  EXPECT_LE(client->counters().round_trips - before, 20U);
  const auto own = [](const std::vector<ListedProcess>& processes) {
    return std::ranges::find(processes, ::getpid(), &ListedProcess::pid)->user;
  };
  EXPECT_EQ(own(*there.processes()), own(*here.processes()));
}

} // namespace
} // namespace mqbridge::test
