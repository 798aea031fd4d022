// Ranks on computers that ssh leads to: two network namespaces with an sshd each. Processes have
// other numbers there than here. What a rank posted is known from its own log; what is left behind,
// from /proc.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/ssh_nodes.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <list>
#include <sstream>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SshJobTest : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root has namespaces";
    MQBRIDGE_SKIP_IF_LACKING(SshNodes::lacking());
  }
};

std::string ssh_target(const std::string& node, pid_t inside) {
  return fmt::format("ssh:{}:{}", node, inside);
}

std::string message_of(const json& rank) {
  return rank["errors"].empty() ? "" : rank["errors"][0].dump();
}

/// A process of Open MPI on a node, which talks to itself.
class NodeRank {
public:
  NodeRank(const SshNodes& nodes, const std::string& node)
      : process_([&](const std::filesystem::path& directory) { return command(node, directory); }) {
    process_.await_ready();
    std::ifstream(process_.directory() / "ready.0") >> inside_;
    here_ = nodes.processes(node).pid_here(inside_);
    target_ = ssh_target(node, inside_);
  }

  const std::string& target() const { return target_; }
  pid_t here() const { return here_; }
  Oracle oracle() const { return read_oracle(process_.directory(), 0); }
  std::string finish() { return process_.finish(); }

private:
  static test::ChildSpec command(const std::string& node, const std::filesystem::path& directory) {
    const test::ChildSpec here = SingleProcess::command("oracle_poster", directory, {"mix"});
    std::string line = "env";
    for (const auto& [name, value] : here.environment)
      line += fmt::format(" '{}={}'", name, value);
    for (const std::string& word : here.argv)
      line += " " + word;
    return {{"ssh", node, line}};
  }

  SingleProcess process_;
  pid_t inside_ = 0;
  pid_t here_ = 0;
  std::string target_;
};

TEST_F(SshJobTest, AJobOfMpirunOverTwoNodesIsFoundAndDumped) {
  const SshNodes nodes({{"node1"}, {"node2"}});
  MpiJob job(
      {.arguments = {"mix"}, .ranks = 4, .launcher = mpirun_over(nodes, {"node1", "node2"}, 2)});
  const int logins_before = nodes.logins("node1");
  std::vector<pid_t> here;
  for (int rank = 0; rank < job.ranks(); ++rank)
    here.push_back(nodes.processes(rank < 2 ? "node1" : "node2").pid_here(job.pid(rank)));
  const Census census;
  const DumpOutcome dump = dump_json({"--mpirun", std::to_string(job.launcher())});
  EXPECT_THAT(still_held(here, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 4U);
  for (int number = 0; number < job.ranks(); ++number) {
    SCOPED_TRACE(number);
    const json& rank = dump.document["ranks"][static_cast<std::size_t>(number)];
    EXPECT_EQ(rank["rank"], number);
    EXPECT_EQ(rank["world_rank"], number);
    EXPECT_EQ(rank["pid"], job.pid(number));
    EXPECT_EQ(rank["host"], number < 2 ? "node1" : "node2");
    EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(1);
    EXPECT_THAT(differences(read_oracle(job.directory(), number), rank), IsEmpty());
  }
  // All that was started there went over one login.
  EXPECT_EQ(nodes.logins("node1"), logins_before + 1);
  EXPECT_EQ(job.finish(), "");
}

TEST_F(SshJobTest, NodesThatCollectLookTwice) {
  const SshNodes nodes({{"node1"}});
  NodeRank rank(nodes, "node1");
  const Census census;
  const DumpOutcome dump = dump_json({"--collect", rank.target(), "--twice", "0.2"});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  ASSERT_EQ(dump.document["ranks"].size(), 1U);
  const json& now = dump.document["ranks"][0];
  ASSERT_EQ(dump.document["earlier"][0]["ranks"].size(), 1U)
      << testing::PrintToString<Outcome>(dump);
  const json& before = dump.document["earlier"][0]["ranks"][0];
  EXPECT_EQ(before["endpoint"], now["endpoint"]);
  EXPECT_LT(before["stopped_at"], now["stopped_at"]);
  EXPECT_THAT(differences(rank.oracle(), now), IsEmpty());
  EXPECT_EQ(rank.finish(), "");
}

TEST_F(SshJobTest, NodesCollectTheirOwnRanksAndOneThatRefusesTheKeyIsNamed) {
  const SshNodes nodes({{"node1"}, {"node2"}, {.name = "closed", .refuses_key = true}});
  NodeRank first(nodes, "node1");
  NodeRank second(nodes, "node2");
  const Census census;
  const DumpOutcome dump =
      dump_json({"--collect", first.target(), second.target(), ssh_target("closed", 17)});
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 2U);
  for (const NodeRank* rank : {&first, &second}) {
    const auto& dumped = dump.document["ranks"];
    const auto found = std::find_if(dumped.begin(), dumped.end(), [&](const json& each) {
      return each["endpoint"] == rank->target();
    });
    ASSERT_NE(found, dumped.end()) << rank->target();
    EXPECT_THAT(differences(rank->oracle(), *found), IsEmpty());
    EXPECT_THAT(still_held({rank->here()}, 5s), IsEmpty());
  }
  ASSERT_EQ(dump.document["errors"].size(), 1U);
  const auto error = dump.document["errors"][0];
  EXPECT_EQ(error["code"], "collector.no_greeting");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("closed: "));
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("Permission denied"));
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(first.finish(), "");
  EXPECT_EQ(second.finish(), "");
}

TEST_F(SshJobTest, ANodeThatRefusesTheKeyCostsItsOwnRanks) {
  const SshNodes nodes({{"node1"}, {.name = "closed", .refuses_key = true}});
  NodeRank open(nodes, "node1");
  const Census census;
  const auto closed = {ssh_target("closed", 17), ssh_target("closed", 18)};
  std::vector<std::string> targets = closed;
  targets.push_back(open.target());
  const DumpOutcome dump = dump_json(targets);
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 3U);
  for (const json& rank : dump.document["ranks"]) {
    if (rank["endpoint"] == open.target()) {
      EXPECT_THAT(differences(open.oracle(), rank), IsEmpty());
    } else {
      EXPECT_EQ(rank["status"], "failed");
      EXPECT_THAT(message_of(rank), HasSubstr("Permission denied"));
    }
  }
  EXPECT_THAT(still_held({open.here()}, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(open.finish(), "");
}

TEST_F(SshJobTest, DoctorNamesTheNodeThatRefusesTheKeyOnce) {
  const SshNodes nodes({{"node1"}, {.name = "closed", .refuses_key = true}});
  NodeRank open(nodes, "node1");
  const test::TempDirectory directory;
  const auto file = directory / "ranks";
  std::ofstream(file) << fmt::format("0 {}\n1 ssh:closed:17\n2 ssh:closed:18\n", open.target());
  const std::string recorder =
      MQBRIDGE_BINARY_DIRECTORY "/recorder/openmpi/libmqbridge-recorder.so";
  const Outcome doctor =
      run_mqbridge({"doctor", "--targets", file.string(), "--recorder", recorder});
  EXPECT_EQ(doctor.status(), 1) << testing::PrintToString(doctor);
  EXPECT_THAT(doctor.out, HasSubstr("\nnode1   1 node, 1 rank "));
  EXPECT_THAT(doctor.out, testing::ContainsRegex("\nok +queues "));
  EXPECT_THAT(doctor.out, testing::ContainsRegex("\nok +recorder "));
  EXPECT_THAT(doctor.out, HasSubstr("\nclosed   1 node, 2 ranks "));
  EXPECT_THAT(doctor.out, testing::ContainsRegex("\nFAULT  reach +.*Permission denied"));
  EXPECT_THAT(doctor.out, HasSubstr("ssh -o BatchMode=yes closed true"));
  EXPECT_THAT(still_held({open.here()}, 5s), IsEmpty());
  EXPECT_EQ(open.finish(), "");
}

// As where the user's home is on a file system that does not answer.
TEST_F(SshJobTest, ANodeWhoseShellHangsIsNamedAndHoldsUpNobody) {
  const SshNodes nodes({{"node1"}, {.name = "stuck", .hangs = true}});
  NodeRank open(nodes, "node1");
  const Census census;
  const auto begin = std::chrono::steady_clock::now();
  const DumpOutcome dump = dump_json(
      {open.target(), ssh_target("stuck", 17), ssh_target("stuck", 18), "--connect-timeout", "2"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s + 10s); // a shell that hangs ends never
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 3U);
  for (const json& rank : dump.document["ranks"]) {
    const bool is_open = rank["endpoint"] == open.target();
    EXPECT_EQ(rank["status"], is_open ? "ok" : "failed") << message_of(rank);
    if (is_open) {
      EXPECT_THAT(differences(open.oracle(), rank), IsEmpty());
    }
  }
  EXPECT_THAT(census.left_behind(5s, {"sleep"}), IsEmpty()); // the shell that hangs
  EXPECT_EQ(open.finish(), "");
}

TEST_F(SshJobTest, AnSshdOfTwoSessionsServesFourRanks) {
  const SshNodes nodes({{.name = "narrow", .max_sessions = 2}});
  std::list<NodeRank> ranks;
  std::vector<std::string> targets;
  for (int i = 0; i < 4; ++i)
    targets.push_back(ranks.emplace_back(nodes, "narrow").target());
  const Census census;
  const DumpOutcome dump = dump_json(targets);
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  for (const NodeRank& rank : ranks) {
    const auto& dumped = dump.document["ranks"];
    const auto found = std::find_if(dumped.begin(), dumped.end(), [&](const json& each) {
      return each["endpoint"] == rank.target();
    });
    ASSERT_NE(found, dumped.end()) << rank.target();
    EXPECT_THAT(differences(rank.oracle(), *found), IsEmpty());
    EXPECT_THAT(still_held({rank.here()}, 5s), IsEmpty());
  }
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  for (NodeRank& rank : ranks)
    EXPECT_EQ(rank.finish(), "");
}

// One goes before it is reached, so its server is refused it and ends: the others have another one.
TEST_F(SshJobTest, ARankThatHasEndedCostsTheOthersOnItsNodeNothing) {
  const SshNodes nodes({{"node1"}});
  std::list<NodeRank> ranks;
  std::vector<std::string> targets;
  for (int i = 0; i < 3; ++i)
    targets.push_back(ranks.emplace_back(nodes, "node1").target());
  EXPECT_EQ(ranks.front().finish(), "");
  const DumpOutcome dump = dump_json([&] {
    auto arguments = targets;
    arguments.insert(arguments.end(), {"--jobs", "1"}); // one server takes them in turn
    return arguments;
  }());
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  for (const json& rank : dump.document["ranks"]) {
    const bool gone = rank["endpoint"] == targets.front();
    EXPECT_EQ(rank["status"], gone ? "failed" : "ok") << rank["errors"].dump(1);
    if (gone) {
      EXPECT_THAT(message_of(rank), HasSubstr("there is no process"));
    }
  }
  ranks.pop_front();
  for (NodeRank& rank : ranks)
    EXPECT_EQ(rank.finish(), "");
}

TEST_F(SshJobTest, WithoutAGdbserverThereItSaysSoAndWhatMendsIt) {
  const SshNodes nodes({{"node1"}});
  NodeRank rank(nodes, "node1");
  const Outcome outcome =
      run_mqbridge({"dump", "--gdbserver", "/nowhere/gdbserver", rank.target()});
  EXPECT_EQ(outcome.status(), 3) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("/nowhere/gdbserver"));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("--gdbserver"));
  EXPECT_EQ(rank.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
