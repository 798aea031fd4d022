// A job under the recorder shows its queues, whatever its MPI and its transport, and what each of
// its ranks is in and waits for.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/host_mpi.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Mpi {
  std::string name;
  std::string shown; ///< what a dump calls it
};

void PrintTo(const Mpi& mpi, std::ostream* stream) {
  *stream << mpi.name;
}

bool has_returned(const json& operation) {
  return operation["status"] == "complete" && operation["request"].is_null();
}

/// What a queue has of operations that have not returned; all others are pending, or inactive.
json comparable(const json& queue) {
  json kept = json::array();
  for (json operation : queue["operations"]) {
    if (has_returned(operation))
      continue;
    if (operation["status"] != "inactive")
      operation["status"] = "pending";
    operation["system_buffer"] = false;
    kept.push_back(operation);
  }
  json made = queue;
  made["total"] = kept.size();
  made["operations"] = std::move(kept);
  return made;
}

bool has_tag(const json& queue, const json& tag) {
  return std::ranges::any_of(queue["operations"],
                             [&](const json& operation) { return operation["tag"] == tag; });
}

/// A recorder knows of a send or receive that it is complete once the program does. So each is
/// compared but for that. Sends that were complete at once are in no queue of it, and what
/// Open MPI alone has is left out: communicators of its own, and a message that MPI_Mprobe has
/// taken as a receive.
std::vector<std::string> recorded_differences(Oracle oracle, json rank) {
  oracle.internal = 0;
  for (json& communicator : rank["communicators"])
    for (const char* name : {"send", "receive"}) {
      json& queue = communicator["queues"][name];
      queue = comparable(queue);
      std::erase_if(oracle.operations, [&](const json& posted) {
        return posted["queue"] == "send" && name == std::string("send") &&
               posted["communicator"] == communicator["name"] && posted["status"] == "complete" &&
               !has_tag(queue, posted["tag"]);
      });
    }
  std::erase_if(oracle.operations,
                [](const json& posted) { return posted.value("kind", "") == "message"; });
  for (json& posted : oracle.operations) {
    if (posted["status"] != "inactive")
      posted["status"] = "pending";
    posted["delivered"] = nullptr;
    posted["system_buffer"] = false;
  }
  return differences(oracle, rank);
}

class RecordedJob : public testing::TestWithParam<Mpi> {
protected:
  bool is_mpich() const { return GetParam().name == "mpich"; }

  std::string lacking() const {
    if (is_mpich())
      return lacking_debian_mpich();
    return "";
  }

  JobSpec job(const std::string& program, const std::vector<std::string>& arguments,
              int ranks) const {
    JobSpec spec = is_mpich() ? debian_mpich_job(program, arguments, ranks)
                              : JobSpec{.program = program, .arguments = arguments, .ranks = ranks};
    if (GetParam().name == "ucx")
      spec.pml = "ucx";
    spec.environment.emplace_back(
        "LD_PRELOAD", fmt::format("{}/recorder/{}/libmqbridge-recorder.so",
                                  MQBRIDGE_BINARY_DIRECTORY, is_mpich() ? "mpich" : "openmpi"));
    return spec;
  }

  /// Open MPI 5.0.7 over UCX dies in its own MPI_Waitall, without a recorder too.
  static void expect_end(MpiJob& job) {
    const std::string end = job.finish();
    EXPECT_TRUE(end.empty() || (GetParam().name == "ucx" && test::openmpi_version() >= "5")) << end;
  }

  static std::vector<std::string> targets(const MpiJob& job) {
    std::vector<std::string> all;
    for (int rank = 0; rank < job.ranks(); ++rank)
      all.push_back(local_target(job.pid(rank)));
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(, RecordedJob,
                         testing::Values(Mpi{"ob1", "Open MPI"}, Mpi{"ucx", "Open MPI"},
                                         Mpi{"mpich", "MPICH"}),
                         [](const auto& of) { return of.param.name; });

TEST_P(RecordedJob, SaysWhatItsRanksPosted) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  for (const char* scenario : {"mix", "inter"}) {
    MpiJob running(job("oracle_poster", {scenario}, 2));
    const auto dump = dump_json(targets(running));
    EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    for (int i = 0; i < running.ranks(); ++i) {
      const json& rank = dump.document["ranks"][static_cast<std::size_t>(i)];
      EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(1);
      EXPECT_EQ(rank["mpi"]["name"], GetParam().shown);
      EXPECT_EQ(rank["mpi"]["state"], "initialized");
      EXPECT_EQ(rank["dll"]["provider"], "recorder");
      EXPECT_EQ(rank["world_rank"], i);
      EXPECT_THAT(recorded_differences(read_oracle(running.directory(), i), rank), IsEmpty());
    }
    expect_end(running);
  }
}

TEST_P(RecordedJob, SaysWhichMessagesACallWaitsFor) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  expect_recorded_calls(job("mpi_calls", {}, 3), {{"recv", "dup", 8, {0, 2}},
                                                  {"mprobe", "between", 8, {1}},
                                                  {"waitall_mixed", "between", 8, {1}},
                                                  {"waitany", "reversed", 8, {0, 2}}});
}

TEST_P(RecordedJob, SaysWhereACollectiveWasCalled) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  expect_recorded_collectives(job("mpi_calls", {}, 3),
                              {{"bcast", "dup", 8, {1, 2}}, {"comm_split", "world", 8, {0, 1}}});
}

/// Without stacks it is the recorder that knows the calls, and where they stand.
TEST_P(RecordedJob, KnowsItsCallsWithoutStacks) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  MpiJob running(job("oracle_poster", {"blocked_waitall"}, 2));
  ASSERT_TRUE(running.await_spinning({0}));
  const auto dump = dump_json({"--no-stacks", local_target(running.pid(0))});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["stacks"], nullptr);
  ASSERT_EQ(rank["blocked_in"].size(), 1U) << rank["blocked_in"].dump();
  const json& call = rank["blocked_in"][0];
  EXPECT_EQ(call["call"], "MPI_Waitall");
  EXPECT_EQ(call["thread"], std::to_string(running.pid(0)));
  EXPECT_THAT(call["file"].get<std::string>(), EndsWith("blocked.c"));
  EXPECT_GT(call["line"], 0);
  EXPECT_GT(call["group"], 0);
  int waited = 0;
  for (const json& communicator : rank["communicators"])
    for (const char* queue : {"send", "receive"})
      for (const json& operation : communicator["queues"][queue]["operations"]) {
        if (has_returned(operation))
          continue;
        EXPECT_THAT(operation["file"].get<std::string>(), EndsWith(".c"));
        EXPECT_GT(operation["line"], 0);
        waited += operation["waited"].is_object() && operation["waited"]["group"] == call["group"];
      }
  EXPECT_GT(waited, 1);
  expect_end(running);
}

/// Only the recorder knows how many requests the call waits for.
TEST_P(RecordedJob, TellsItsCallsBesideStacksAlone) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  MpiJob running(job("oracle_poster", {"blocked_waitall"}, 2));
  ASSERT_TRUE(running.await_spinning({0}));
  const auto shown = run_mqbridge({"stacks", "--format", "json", local_target(running.pid(0))});
  ASSERT_EQ(shown.status(), 0) << testing::PrintToString(shown);
  const json document = json::parse(shown.out);
  const json& calls = document["ranks"][0]["blocked_in"];
  ASSERT_EQ(calls.size(), 1U) << calls.dump();
  EXPECT_EQ(calls[0]["call"], "MPI_Waitall");
  EXPECT_THAT(calls[0]["file"].get<std::string>(), EndsWith("blocked.c"));
  EXPECT_GT(calls[0]["group"], 0);
  expect_end(running);
}

/// Rank 1 has sent a small message with tag 71 that rank 0 does not receive; both receive tag 17.
TEST_P(RecordedJob, KnowsWhatHasArrivedWhateverIsFiltered) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  struct Asked {
    std::vector<std::string> options;
    std::size_t messages;
    std::size_t receives;
  };
  const Asked all_asked[] = {{{"--tag", "71"}, 1, 0},
                             {{"--tag", "17"}, 0, 1},
                             {{"--peer", "1"}, 1, 1},
                             {{"--peer", "0"}, 0, 0},
                             {{"--queue", "unexpected"}, 1, 0}};
  MpiJob running(job("verdict", {"wrong_tag"}, 2));
  ASSERT_TRUE(running.await_spinning({0, 1}));
  for (const Asked& asked : all_asked) {
    auto options = targets(running);
    options.insert(options.begin(), asked.options.begin(), asked.options.end());
    const auto dump = dump_json(options);
    SCOPED_TRACE(asked.options.back());
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    const json world = find_communicator(dump.document["ranks"][0], "MPI_COMM_WORLD");
    const json& unexpected = world["queues"]["unexpected"];
    EXPECT_EQ(unexpected["state"], "available");
    EXPECT_EQ(unexpected["total"], 1);
    EXPECT_EQ(unexpected["operations"].size(), asked.messages);
    EXPECT_EQ(world["queues"]["receive"]["operations"].size(), asked.receives);
  }
}

/// LD_PRELOAD has brought the recorder into it, too.
TEST_P(RecordedJob, HasALauncherThatIsNoneOfItsRanks) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  MpiJob running(job("oracle_poster", {"mix"}, 2));
  const auto dump = dump_json({local_target(running.launcher())});
  const json& rank = dump.document["ranks"][0];
  EXPECT_FALSE(find_error(rank, "mpi.launcher").is_null()) << rank["errors"].dump(1);
  expect_end(running);
}

TEST_P(RecordedJob, IsShownAsItsMpi) {
  MQBRIDGE_SKIP_IF_LACKING(lacking());
  MpiJob running(job("oracle_poster", {"mix"}, 2));
  const auto shown = run_mqbridge({"dump", local_target(running.pid(0))});
  EXPECT_EQ(shown.status(), 0) << testing::PrintToString(shown);
  EXPECT_THAT(shown.out, HasSubstr(GetParam().shown));
  EXPECT_THAT(shown.out, HasSubstr("libmqbridge-queues.so"));
  EXPECT_THAT(shown.out, HasSubstr("known once all senders are in the dump"));
  EXPECT_THAT(shown.out, Not(HasSubstr("node 0x")));
  expect_end(running);
}

} // namespace
} // namespace mqbridge::e2e
