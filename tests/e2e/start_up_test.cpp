// How many round trips a dump takes before the walk and after it, for each stub that says much of
// itself in few of them. Times depend on the machine; these do not.

#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <string>
#include <vector>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using test::GdbServer;
using test::RealStub;
using test::ServerMode;

/// Round trips by phase.
using Phases = std::map<std::string, unsigned>;

Phases phases_of(const json& rank) {
  Phases phases;
  for (const auto& phase : rank["statistics"]["phases"])
    phases[phase["name"].get<std::string>()] = phase["round_trips"].get<unsigned>();
  return phases;
}

/// No phase that `most` names takes more than it says, and all of them were gone through.
void expect_at_most(const Phases& most, const json& rank) {
  const Phases phases = phases_of(rank);
  for (const auto& [name, count] : most) {
    ASSERT_TRUE(phases.contains(name)) << name << " in " << rank["statistics"];
    EXPECT_LE(phases.at(name), count) << name << " of " << testing::PrintToString(phases);
  }
}

/// connect: TCP, qSupported, and the burst that asks everything else. attach: the first bytes of
/// all objects, and /proc/PID/maps is opened. images: it is read, beside the roots of the MPI.
const Phases attached{{"connect", 3}, {"attach", 1}, {"images", 1}, {"types", 0}, {"detach", 1}};

/// attach: two for the state that the process is in by itself, before anything holds it; vAttach,
/// what it has attached to, the first bytes of all objects.
Phases by_process(bool first) {
  return {{"connect", first ? 3U : 0U}, {"attach", 5}, {"images", 1}, {"types", 0}, {"detach", 1}};
}

TEST(StartUpTest, OfAServerThatIsAttached) {
  MpiJob job({.arguments = {"mix"}});
  const GdbServer server(ServerMode::attach, job.pid(0));
  const DumpOutcome dump = dump_json({server.endpoint()});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  expect_at_most(attached, dump.document["ranks"][0]);
  EXPECT_EQ(dump.document["ranks"][0]["world_rank"], 0);
  EXPECT_EQ(job.finish(), "");
}

TEST(StartUpTest, OfFourRanksBehindOneServer) {
  constexpr int ranks = 4;
  MpiJob job({.arguments = {"mix"}, .ranks = ranks});
  const GdbServer server(ServerMode::multi, job.pid(0));
  std::vector<std::string> targets;
  for (int rank = 0; rank < ranks; ++rank)
    targets.push_back(fmt::format("127.0.0.1:{}@{}", server.port(), job.pid(rank)));
  const DumpOutcome dump = dump_json(targets);
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  for (int rank = 0; rank < ranks; ++rank)
    expect_at_most(by_process(rank == 0), dump.document["ranks"][static_cast<std::size_t>(rank)]);
  EXPECT_EQ(job.finish(), "");
}

/// What was asked before the process ran counts no more: it is asked again where it stopped.
TEST(StartUpTest, OfAProcessThatItsServerHasStarted) {
  const test::TempDirectory directory;
  const GdbServer server(
      ServerMode::spawned,
      SingleProcess::command("oracle_poster", directory.path(), {"mix", "signal"}));
  const DumpOutcome dump = dump_json({"--run-until", "signal", server.endpoint()});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  // attach: vCont?, the run, and two bursts at the stop.
  expect_at_most({{"connect", 3}, {"attach", 4}, {"images", 1}, {"types", 0}, {"detach", 1}},
                 dump.document["ranks"][0]);
  std::ofstream(directory / "go").flush();
}

TEST(StartUpTest, OfLldbServer) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("lldb-server", "lldb"));
  SingleProcess poster("oracle_poster", {"mix"});
  const RealStub stub(
      {"lldb-server", "gdbserver", "127.0.0.1:{port}", "--attach", std::to_string(poster.pid())});
  const DumpOutcome dump = dump_json({stub.endpoint()});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  expect_at_most({{"connect", 4}, {"attach", 2}, {"images", 1}, {"types", 0}, {"detach", 1}},
                 dump.document["ranks"][0]);
  EXPECT_EQ(poster.finish(), "");
}

/// No link map, no files: the dynamic linker's own list is read, word by word out of few pages.
TEST(StartUpTest, OfQemuUser) {
  const ForeignPlatform& platform = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  ForeignPoster poster(platform, "mix");
  const DumpOutcome dump = dump_json(poster);
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  expect_at_most({{"connect", 5}, {"attach", 5}, {"images", 30}, {"types", 0}, {"detach", 1}},
                 dump.document["ranks"][0]);
  EXPECT_EQ(poster.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
