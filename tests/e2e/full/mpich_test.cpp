// A second real debug DLL: MPICH's. A dump says what the ranks posted, and what has come to them.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/who_is_who.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <list>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

constexpr int persistent_synchronous_tag = 121; // oracle_poster
constexpr int persistent_buffered_tag = 141;

// MPICH takes a receive off its list when its message is there, and remembers for debuggers the
// sends of MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Send_init and MPI_Bsend_init, no others
// (src/mpi/debugger/dbginit.c and its callers).
bool is_remembered(const json& operation, const std::string& scenario) {
  if (operation["queue"] == "receive")
    return operation["status"] == "pending";
  const bool buffered =
      !operation["delivered"].is_null() && operation["tag"]["value"] != persistent_buffered_tag;
  return !buffered && operation["tag"]["value"] != persistent_synchronous_tag &&
         scenario != "blocked_ssend";
}

Oracle expected(const std::filesystem::path& directory, int rank, const std::string& scenario) {
  Oracle oracle = read_oracle(directory, rank);
  std::erase_if(oracle.operations,
                [&](const json& operation) { return !is_remembered(operation, scenario); });
  for (json& operation : oracle.operations) // it lists the program's buffer, not its copy
    operation["system_buffer"] = false;
  oracle.internal = 0; // those that MPICH makes for itself are known, and left out
  return oracle;
}

json communicator_of(const Oracle& oracle, const json& name) {
  for (const json& communicator : oracle.communicators)
    if (communicator["communicator"] == name)
      return communicator;
  return {};
}

// Does this send go to that rank? Of an intercommunicator each side knows its own group.
bool goes_to(const json& send, const json& from, const json& to, int rank) {
  if (to.is_null())
    return false;
  if (send["peer"]["global_rank"].is_number())
    return send["peer"]["global_rank"] == rank;
  return from["group"] != to["group"] && send["peer"]["local_rank"] == to["local_rank"];
}

std::string message(const json& communicator, const json& peer, const json& tag,
                    const json& length) {
  return fmt::format("{} from {} tag {} bytes {}", communicator.dump(), peer.dump(), tag.dump(),
                     length.dump());
}

// What the others have sent to `rank` and it has not taken: from what they say that they posted.
std::vector<std::string> sent_to(const std::filesystem::path& directory, int rank, int ranks) {
  std::vector<std::string> messages;
  const Oracle receiver = read_oracle(directory, rank);
  for (int other = 0; other < ranks; ++other) {
    const Oracle sender = read_oracle(directory, other);
    for (const json& send : sender.operations) {
      const bool under_way = send["status"] == "pending" || send["system_buffer"];
      const json& name = send["communicator"];
      const json from = communicator_of(sender, name);
      if (send["queue"] == "send" && under_way &&
          goes_to(send, from, communicator_of(receiver, name), rank))
        messages.push_back(message(name, from["local_rank"], send["tag"]["value"], send["length"]));
    }
  }
  return messages;
}

std::vector<std::string> unexpected_of(const json& rank) {
  std::vector<std::string> messages;
  for (const json& communicator : rank["communicators"]) {
    const json& queue = communicator["queues"]["unexpected"];
    EXPECT_EQ(queue["state"], "available");
    for (const json& operation : queue["operations"]) {
      EXPECT_EQ(operation["length"]["unit"], "bytes");
      messages.push_back(message(communicator["name"], operation["peer"]["local_rank"],
                                 operation["tag"]["value"], operation["length"]["value"]));
    }
  }
  return messages;
}

void expect_mpich(const json& rank, int number, int ranks) {
  EXPECT_EQ(rank["rank"], number);
  EXPECT_EQ(rank["world_rank"], number);
  EXPECT_EQ(rank["world_size"], ranks);
  EXPECT_EQ(rank["status"], "ok");
  for (const json& error : rank["errors"]) // on a busy machine the estimate may be long
    EXPECT_EQ(error["code"], "stop.long") << error.dump(2);
  EXPECT_EQ(rank["mpi"]["name"], "MPICH");
  EXPECT_EQ(rank["mpi"]["version"], "4.0.2");
  EXPECT_EQ(rank["mpi"]["transport"], "ch3:nemesis");
  EXPECT_EQ(rank["mpi"]["state"], "initialized");
  EXPECT_EQ(rank["dll"]["provider"], "mpich");
  EXPECT_THAT(rank["dll"]["path"].get<std::string>(), HasSubstr("libtvmpich.so"));
}

DumpOutcome dump(const std::vector<std::string>& targets,
                 std::vector<std::string> options = mpich_options()) {
  options.insert(options.end(), targets.begin(), targets.end());
  return dump_json(options);
}

struct Servers {
  explicit Servers(const MpiJob& job) {
    for (int rank = 0; rank < job.ranks(); ++rank)
      targets.push_back(list.emplace_back(test::ServerMode::attach, job.pid(rank)).endpoint());
  }
  std::list<test::GdbServer> list;
  std::vector<std::string> targets;
};

struct Case {
  std::string scenario;
  int ranks;

  bool blocks() const { return scenario.starts_with("blocked"); }
};

void PrintTo(const Case& param, std::ostream* stream) {
  *stream << param.scenario << ", " << param.ranks << " ranks";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* scenario : {"mix", "inter", "matched", "blocked_recv", "blocked_ssend",
                               "blocked_wait", "blocked_waitall", "blocked_waitany"}) {
    for (const int ranks : {2, 4})
      cases.push_back({scenario, ranks});
  }
  return cases;
}

class MpichOracleTest : public testing::TestWithParam<Case> {};

TEST_P(MpichOracleTest, DumpEqualsWhatWasPostedAndWhatHasCome) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  const auto& [scenario, ranks] = GetParam();
  MpiJob job(mpich_job("oracle_poster", {scenario}, ranks));
  std::vector<int> blocked;
  for (int rank = 0; GetParam().blocks() && rank + 1 < ranks; ++rank)
    blocked.push_back(rank);
  ASSERT_TRUE(job.await_spinning(blocked));
  {
    const Servers servers(job);
    const DumpOutcome outcome = dump(servers.targets);
    ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
    for (int rank = 0; rank < ranks; ++rank) {
      SCOPED_TRACE(fmt::format("rank {}", rank));
      const json& dumped = outcome.document["ranks"].at(static_cast<std::size_t>(rank));
      expect_mpich(dumped, rank, ranks);
      EXPECT_THAT(differences(expected(job.directory(), rank, scenario), dumped), IsEmpty());
      // A rank that makes no MPI call any more has not taken in what was sent to it since.
      if (!GetParam().blocks() && scenario != "matched") {
        EXPECT_THAT(unexpected_of(dumped),
                    UnorderedElementsAreArray(sent_to(job.directory(), rank, ranks)));
      }
    }
  }
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(, MpichOracleTest, testing::ValuesIn(all_cases()), [](const auto& of) {
  return fmt::format("{}_{}", of.param.scenario, of.param.ranks);
});

class MpichSingletonTest : public testing::TestWithParam<const char*> {};

TEST_P(MpichSingletonTest, DumpEqualsWhatWasPosted) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  const std::string scenario = GetParam();
  SingleProcess process([&](const auto& directory) {
    return mpich_singleton("oracle_poster", directory, {scenario});
  });
  process.await_ready();
  const DumpOutcome outcome = dump({local_target(process.pid())});
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
  const json& dumped = outcome.document["ranks"][0];
  expect_mpich(dumped, 0, 1);
  EXPECT_THAT(differences(expected(process.directory(), 0, scenario), dumped), IsEmpty());
  EXPECT_THAT(unexpected_of(dumped), UnorderedElementsAreArray(sent_to(process.directory(), 0, 1)));
  EXPECT_EQ(process.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(, MpichSingletonTest, testing::Values("mix", "receives=100"),
                         [](const auto& of) {
                           return std::string(of.param).substr(0, std::string(of.param).find('='));
                         });

std::vector<std::string> names_of(const json& rank) {
  std::vector<std::string> names;
  for (const json& communicator : rank["communicators"])
    names.push_back(communicator["name"]);
  return names;
}

// The DLL crashes when it meets the communicators again with one gone: each dump has a fresh one.
TEST(MpichTest, AFreedCommunicatorHasGoneFromTheNextDump) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  MpiJob job(mpich_job("comm_free", {}));
  const std::vector<std::string> targets = {local_target(job.pid(0)), local_target(job.pid(1))};
  const DumpOutcome before = dump(targets);
  ASSERT_EQ(before.status(), 0) << testing::PrintToString<Outcome>(before);
  const auto free = job.directory() / "free";
  std::filesystem::create_directory(free);
  std::ofstream(free / "go").flush();
  ASSERT_TRUE(test::eventually(30s, [&] {
    return std::filesystem::exists(free / "ready.0") && std::filesystem::exists(free / "ready.1");
  }));
  const DumpOutcome after = dump(targets);
  ASSERT_EQ(after.status(), 0) << testing::PrintToString<Outcome>(after);
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_THAT(names_of(before.document["ranks"][rank]),
                UnorderedElementsAre("MPI_COMM_WORLD", "MPI_COMM_SELF", "kept", "doomed"));
    const json& now = after.document["ranks"][rank];
    EXPECT_THAT(names_of(now),
                UnorderedElementsAre("MPI_COMM_WORLD", "MPI_COMM_SELF", "kept", "fresh"));
    for (const auto& [name, tag] : {std::pair{"kept", 1}, std::pair{"fresh", 2}}) {
      const json receives = find_communicator(now, name)["queues"]["receive"]["operations"];
      ASSERT_EQ(receives.size(), 1U);
      EXPECT_EQ(receives[0]["tag"]["value"], tag);
      EXPECT_EQ(receives[0]["length"]["value"], 4);
    }
  }
  EXPECT_EQ(job.finish(), "");
}

TEST(MpichTest, PeersAreFilteredByTheirRankInTheWorld) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  MpiJob job(mpich_job("oracle_poster", {"mix"}));
  auto options = mpich_options();
  options.insert(options.end(), {"--comm", "reversed", "--peer", "1"});
  const DumpOutcome outcome = dump({local_target(job.pid(0))}, options);
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
  const json& queues = outcome.document["ranks"][0]["communicators"][0]["queues"];
  for (const char* queue : {"send", "receive", "unexpected"})
    ASSERT_EQ(queues[queue]["operations"].size(), 1U) << queue; // rank 0 of "reversed"
  EXPECT_EQ(queues["receive"]["operations"][0]["peer"]["local_rank"], 0);
  EXPECT_EQ(job.finish(), "");
}

TEST(MpichTest, BeforeInitAndAfterFinalizeThereAreNoQueues) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  for (const auto& [moment, state] :
       {std::pair{"before", "not_initialized"}, std::pair{"after", "finalized"}}) {
    SingleProcess process([&, when = std::string(moment)](const auto& directory) {
      return mpich_singleton("mpi_state", directory, {when});
    });
    process.await_ready();
    const DumpOutcome outcome = dump({local_target(process.pid())});
    const json& rank = outcome.document["ranks"][0];
    EXPECT_EQ(rank["mpi"]["state"], state) << testing::PrintToString<Outcome>(outcome);
    EXPECT_EQ(rank["status"], std::string(state) == "finalized" ? "ok" : "partial");
    EXPECT_EQ(process.finish(), "");
  }
}

// MPI_Finalize has freed MPI_COMM_WORLD, and not what the program did not free.
TEST(MpichTest, AProcessThatHangsInMpiFinalizeSaysSo) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  MpiJob job(mpich_job("mpi_state", {"inside"}));
  DumpOutcome outcome;
  const bool inside = test::eventually(30s, [&] {
    outcome = dump({local_target(job.pid(0))});
    return outcome.document["ranks"][0]["mpi"]["state"] == "finalizing";
  });
  ASSERT_TRUE(inside) << testing::PrintToString<Outcome>(outcome);
  const json& rank = outcome.document["ranks"][0];
  EXPECT_EQ(rank["status"], "ok") << rank["errors"];
  EXPECT_TRUE(rank["world_rank"].is_null());
  EXPECT_TRUE(find_error(rank, "walk.no_world").is_null());
  EXPECT_FALSE(find_communicator(rank, "kept").is_null());
  EXPECT_EQ(job.finish(), "");
}

// MPICH tells of another job's processes their connections alone.
TEST(MpichTest, WhoIsWhoOverTwoJobs) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  MpiJob job(mpich_job("who_is_who", {}));
  const DumpOutcome outcome = dump(who_targets(job.directory()));
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
  ASSERT_EQ(outcome.document["ranks"].size(), 4U);
  EXPECT_THAT(who_differences(job.directory(), outcome.document, false), IsEmpty());
  for (const json& rank : outcome.document["ranks"])
    EXPECT_EQ(rank["world_size"], 2) << "whatever is called MPI_COMM_WORLD";
  EXPECT_TRUE(who_finishes(job.directory()));
}

/// Only what they receive: MPICH remembers no send of a collective.
TEST(MpichTest, ARankInsideACollectiveSaysWhatItWaitsFor) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  expect_calls(mpich_job("mpi_calls", {}, 4),
               {{.call = "barrier", .comm = "dup", .inside = {0, 1, 2}},
                {.call = "barrier", .inside = {1}},
                {.call = "allreduce", .comm = "reversed", .inside = {1, 2, 3}},
                {.call = "allreduce", .bytes = 1 << 20, .inside = {0, 3}},
                {.call = "bcast", .inside = {1, 2, 3}},
                {.call = "gather", .inside = {0}},
                {.call = "alltoall", .comm = "reversed", .inside = {0, 2, 3}},
                {.call = "scan", .inside = {1, 2, 3}},
                {.call = "reduce_scatter_block", .comm = "dup", .inside = {0, 1}}},
               Threads::single, mpich_options());
}

TEST(MpichTest, DoctorFindsNoFaultAndSaysWhatTheDllDoesNotShow) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  MpiJob job(mpich_job("oracle_poster", {"mix"}));
  std::vector<std::string> arguments = {"doctor"};
  for (auto& option : mpich_options())
    arguments.push_back(std::move(option));
  arguments.push_back(local_target(job.pid(1)));
  const Outcome outcome = run_mqbridge(arguments);
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  for (const char* subject : {"MPI +MPICH 4.0.2, initialized, rank 1 of 2", "types +dwarf",
                              "transport +ch3:nemesis", "DLL +/.*libtvmpich.so", "queues"})
    EXPECT_THAT(outcome.out, ContainsRegex(fmt::format("ok +{}", subject)));
  for (const char* subject : {"send", "unexpected", "inside"})
    EXPECT_THAT(outcome.out, ContainsRegex(fmt::format("LIMIT +{}", subject)));
  EXPECT_THAT(outcome.out, Not(ContainsRegex("FAULT +[a-zA-Z]")));
  EXPECT_EQ(job.finish(), "");
}

// The library without its debug information, which stands beside it.
void split_library(const std::filesystem::path& directory) {
  const std::string library = (directory / "libmpi.so.12").string();
  const std::string debug = library + ".debug";
  std::filesystem::copy_file(mpich_library(), library);
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"objcopy", "--only-keep-debug", library, debug},
           {"strip", "--strip-all", library},
           {"objcopy", "--add-gnu-debuglink=" + debug, library}}) {
    const Outcome outcome = run_program({command});
    ASSERT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  }
}

// The heads of two queues are local symbols, which strip takes away.
TEST(MpichTest, LocalSymbolsOfAStrippedLibraryComeFromItsDebugFile) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  const test::TempDirectory libraries;
  split_library(libraries.path());
  SingleProcess process([&](const auto& directory) {
    return mpich_singleton_with(libraries.path(), "oracle_poster", directory, {"mix"});
  });
  process.await_ready();
  const DumpOutcome outcome = dump({local_target(process.pid())});
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
  const json& rank = outcome.document["ranks"][0];
  EXPECT_THAT(differences(expected(process.directory(), 0, "mix"), rank), IsEmpty());

  std::filesystem::remove(libraries.path() / "libmpi.so.12.debug");
  const DumpOutcome stripped = dump({local_target(process.pid())});
  EXPECT_EQ(stripped.status(), 1);
  EXPECT_EQ(stripped.document["ranks"][0]["status"], "partial");
  const json error = find_error(stripped.document["ranks"][0], "types.missing");
  EXPECT_THAT(error.value("hint", ""), HasSubstr("--enable-debuginfo"));
  EXPECT_EQ(process.finish(), "");
}

TEST(MpichTest, DoctorNamesTheMendingOfDebiansBuild) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  const test::TempDirectory libraries;
  std::filesystem::create_symlink(debian_mpich_library(), libraries / "libmpi.so.12");
  SingleProcess process([&](const auto& directory) {
    return mpich_singleton_with(libraries.path(), "oracle_poster", directory, {"receives=3"});
  });
  process.await_ready();
  const Outcome outcome = run_mqbridge({"doctor", local_target(process.pid())});
  EXPECT_NE(outcome.status(), 0);
  EXPECT_THAT(outcome.out, ContainsRegex("ok +MPI +MPICH 4.0.2"));
  EXPECT_THAT(outcome.out, ContainsRegex("FAULT +types .*--enable-debuginfo"));
  EXPECT_THAT(outcome.out, ContainsRegex("FAULT +DLL .*MPIR_dll_name"));
  EXPECT_THAT(outcome.out, ContainsRegex("fix +rebuild MPICH with --enable-debuginfo"));
  EXPECT_EQ(process.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
