// Real gdbservers on a big-endian machine: two ranks under mpirun inside of qemu-system-s390x,
// dumped from here.

#include "tests/e2e/harness/call_case.h"
#include "tests/e2e/harness/foreign_platform.h"
#include "tests/e2e/harness/guest.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/traffic.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// The same job on this machine, dumped.
DumpOutcome native_dump(const std::string& scenario) {
  MpiJob job({.arguments = {scenario}, .ranks = Guest::ranks});
  EXPECT_TRUE(!scenario.starts_with("blocked") || job.await_spinning({0}));
  DumpOutcome dump = dump_json({local_target(job.pid(0)), local_target(job.pid(1))});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  return dump;
}

// Without what depends on when a message came, and on how often a rank has asked whether it has.
std::string lasting(const json& rank) {
  json communicators = comparable_communicators(rank);
  for (json& communicator : communicators) {
    communicator.erase("counters");
    communicator["queues"].erase("unexpected");
    for (json& queue : communicator["queues"])
      for (json& operation : queue["operations"])
        if (operation["kind"] == "message")
          operation.erase("sequence");
  }
  return communicators.dump(1);
}

void expect_rank(const Guest& guest, int number, const json& rank, const json& native) {
  SCOPED_TRACE(fmt::format("rank {}", number));
  EXPECT_EQ(rank["status"], "ok");
  EXPECT_EQ(rank["rank"], number);
  EXPECT_EQ(rank["world_rank"], number);
  EXPECT_EQ(rank["world_size"], Guest::ranks);
  EXPECT_EQ(rank["pid"], guest.pid(number));
  EXPECT_EQ(rank["platform"],
            json({{"architecture", "s390x"}, {"byte_order", "big"}, {"pointer_size", 8}}));
  EXPECT_EQ(rank["mpi"]["transport"], "ob1");
  EXPECT_EQ(rank["mpi"]["types_match"], "exact");
  EXPECT_THAT(differences(read_oracle(guest.directory(), number), rank), IsEmpty());
  EXPECT_EQ(lasting(rank), lasting(native));

  // The walk is the same as on this machine, and so is its price.
  const int round_trips = rank["statistics"]["round_trips"];
  const int native_trips = native["statistics"]["round_trips"];
  testing::Test::RecordProperty(fmt::format("round_trips_rank_{}", number), round_trips);
  testing::Test::RecordProperty(fmt::format("native_round_trips_rank_{}", number), native_trips);
  EXPECT_LE(round_trips, 2 * native_trips);
}

void expect_truth(const Guest& guest, const std::string& scenario, const DumpOutcome& dump) {
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), static_cast<std::size_t>(Guest::ranks));
  const DumpOutcome native = native_dump(scenario);
  for (int rank = 0; rank < Guest::ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    expect_rank(guest, rank, dump.document["ranks"][index], native.document["ranks"][index]);
  }
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Without any file of the target here: its libraries come from it.
TEST(GuestTest, ServersThatAreAttachedTellTheTruthAndEveryFile) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_guest());
  Guest guest(guest_poster("mix"), GuestServers::attach);
  const test::TempDirectory here;
  const std::string trace = (here / "trace").string();
  const DumpOutcome dump =
      dump_json({"--fetch-files", "always", "--trace", trace, guest.target(0), guest.target(1)});
  expect_truth(guest, "mix", dump);
  EXPECT_THAT(contents(trace), AllOf(HasSubstr("-> QStartNoAckMode"), HasSubstr("-> vFile:open:"),
                                     HasSubstr("-> qXfer:libraries-svr4:read:")));
  EXPECT_EQ(guest.finish(), "");
}

// The state of a finished request is what the DLL misreads on a big-endian target.
TEST(GuestTest, OneServerForTwoRanksOneOfThemBlocked) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_guest());
  Guest guest(guest_poster("blocked_waitall"), GuestServers::multi);
  const std::vector<std::string> files = {"--sysroot",
                                          files_of(foreign_platform("s390x")).string()};
  for (int round = 0; round < 2; ++round) {
    const DumpOutcome dump = dump_json({files[0], files[1], guest.target(0), guest.target(1)});
    expect_truth(guest, "blocked_waitall", dump);
  }
  EXPECT_EQ(guest.finish(), "");
}

std::filesystem::path await_step(const Guest& guest, int step) {
  auto directory = guest.directory() / fmt::format("step.{}", step);
  EXPECT_TRUE(test::eventually(120s, [&] {
    return std::filesystem::exists(directory / "ready.0") &&
           std::filesystem::exists(directory / "ready.1");
  }));
  return directory;
}

DumpOutcome dump_of(const Guest& guest) {
  return dump_json(
      {"--sysroot", files_of(foreign_platform("s390x")).string(), guest.target(0), guest.target(1)},
      120s);
}

TEST(GuestTest, CallsThatWaitShowForWhat) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_guest());
  const std::vector<CallCase> cases = {
      {"barrier", "world", 8, {0}},       {"bcast", "dup", 2'000'000, {0}},
      {"allreduce", "reversed", 8, {1}},  {"gather", "world", 8, {0}},
      {"alltoallw", "world", 8, {1}},     {"comm_dup", "world", 8, {0}},
      {"barrier", "between", 8, {1}},     {"probe", "reversed", 8, {0}},
      {"ssend", "between", 8, {0}},       {"waitall_mixed", "dup", 8, {1}},
      {"waitany", "world", 8, {0}},       {"waitany_ibarrier", "world", 8, {1}},
      {"waitall_ibarrier", "dup", 8, {0}}};
  std::string arguments = "single";
  for (const auto& each : cases)
    arguments += " " + each.argument();
  Guest guest({"mpi_calls", arguments, ""}, GuestServers::multi);
  for (int step = 0; const auto& each : cases) {
    SCOPED_TRACE(each.argument());
    const auto directory = await_step(guest, step++);
    std::this_thread::sleep_for(2s); // nobody counts a guest's ticks from here
    const DumpOutcome dump = dump_of(guest);
    EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    EXPECT_THAT(call_differences(each, directory, dump.document), IsEmpty());
    std::ofstream(directory / "go").flush();
  }
  EXPECT_EQ(guest.finish(), "");
}

TEST(GuestTest, RandomProgramsShowWhatWasSentAndNotReceived) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_guest());
  constexpr int programs = 8;
  std::vector<TrafficStep> steps;
  for (std::uint32_t seed = 1; seed <= programs; ++seed)
    steps.push_back(random_traffic(9000 + seed, Guest::ranks));
  Guest guest({"mpi_traffic", "/share/schedule", "", schedule_text(steps)}, GuestServers::multi);
  for (int step = 0; step < programs; ++step) {
    SCOPED_TRACE(step);
    const auto directory = await_step(guest, step);
    const DumpOutcome dump = dump_of(guest);
    EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    EXPECT_THAT(traffic_differences(directory, dump.document), IsEmpty());
    std::ofstream(directory / "go").flush();
  }
  EXPECT_EQ(guest.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
