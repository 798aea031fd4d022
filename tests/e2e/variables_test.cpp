// `mqbridge vars` of a real Open MPI job, one of whose ranks is configured otherwise than the
// others. What each rank has is what it says itself (tests/inferiors/tool_variables.c).

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/schema.h"
#include "tests/support/host_mpi.h"
#include "tests/support/lost_variables.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <set>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int rank_count = 4;

/// mpirun gives all ranks the same environment: a shell changes it for rank 2.
const std::vector<std::string> launcher = {
    "mpirun",
    "--allow-run-as-root",
    "--oversubscribe",
    "--mca",
    "pml",
    "ob1",
    "--mca",
    "btl",
    "self,vader",
    "-np",
    "4",
    "sh",
    "-c",
    "[ $OMPI_COMM_WORLD_RANK != 2 ] || export OMPI_MCA_btl_vader_eager_limit=8192 "
    "OMPI_MCA_mpi_param_check=0; exec \"$0\" \"$@\""};

/// The value of each control variable, as the rank reads it through MPI_T.
std::map<std::string, json> said_by(const MpiJob& job, int rank) {
  std::ifstream file(job.directory() / fmt::format("variables.{}", rank));
  std::map<std::string, json> values;
  const json all = json::parse(file);
  for (const json& variable : all["control"]) {
    const json& value = variable["value"];
    values[variable["name"]] = value.is_array() && value.size() == 1 ? value[0] : value;
  }
  return values;
}

/// These are all that the rank reads itself, with their values.
void expect_control_variables(const json& variables, const std::map<std::string, json>& said) {
  EXPECT_EQ(variables.size(), said.size());
  for (const json& variable : variables) {
    const auto own = said.find(variable["name"]);
    ASSERT_NE(own, said.end()) << variable;
    if (test::is_lost_variable(std::string(variable["name"]))) {
      EXPECT_EQ(variable["readings"][0]["value"], nullptr);
    } else if (!own->second.is_null()) { // MPI_T has no value of a text that is a version
      EXPECT_EQ(variable["readings"][0]["value"], own->second) << variable;
    }
  }
}

class VariablesOfAJob : public testing::Test {
protected:
  VariablesOfAJob()
      : job_({.program = "tool_variables", .ranks = rank_count, .launcher = launcher}) {}

  void TearDown() override { EXPECT_EQ(job_.finish(), "") << "no rank was disturbed"; }

  Outcome vars(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "vars");
    for (int rank = 0; rank < rank_count; ++rank)
      arguments.push_back(local_target(job_.pid(rank)));
    return run_mqbridge(arguments);
  }

  json document(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto outcome = vars(arguments);
    EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
    auto read = json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(schema_violation(read), "");
    return read;
  }

  std::map<std::string, json> said_by(int rank) const { return e2e::said_by(job_, rank); }

  MpiJob job_;
};

TEST_F(VariablesOfAJob, AreThoseThatEachRankReadsItself) {
  const json read = document({"--kind", "control"});
  ASSERT_EQ(read["ranks"].size(), std::size_t{rank_count});
  for (const json& rank : read["ranks"]) {
    const auto said = said_by(rank["rank"]);
    ASSERT_GT(said.size(), 600U);
    expect_control_variables(rank["variables"]["variables"], said);
    EXPECT_EQ(rank["communicators"], json::array()) << "no queue was walked";
  }
}

TEST_F(VariablesOfAJob, TheRankThatIsConfiguredOtherwiseIsFound) {
  MQBRIDGE_SKIP_IF_NOT_OPENMPI("4."); // transports and launchers of 5.0 have other variables
  const json read = document({"--diff"});
  std::set<std::string> expected;
  const auto first = said_by(0);
  for (int rank = 1; rank < rank_count; ++rank)
    for (const auto& [name, value] : said_by(rank))
      if (value != first.at(name))
        expected.insert(name);
  ASSERT_TRUE(expected.contains("btl_vader_eager_limit")) << "or the job is not as it should be";
  const json& job = read["variable_differences"].at(0);
  for (const std::string name : job["left_out"]["own"]) {
    EXPECT_TRUE(expected.erase(name)) << name;
    EXPECT_THAT(name, HasSubstr("ess_"));
  }
  EXPECT_THAT(expected, ElementsAre("btl_vader_eager_limit", "mpi_param_check"));
  std::set<std::string> found;
  for (const json& difference : job["differences"]) {
    found.insert(difference["name"]);
    EXPECT_EQ(difference["majority"], true);
    EXPECT_EQ(difference["values"][0]["of"]["ranks"], json::parse("[[0,1,1],[3,3,1]]"));
    EXPECT_EQ(difference["values"][1]["of"]["ranks"], json::parse("[[2,2,1]]"));
    EXPECT_EQ(difference["values"][1]["set_by"], "environment");
    EXPECT_EQ(difference["values"][1]["value"], said_by(2).at(difference["name"]));
  }
  EXPECT_EQ(found, expected);
}

TEST_F(VariablesOfAJob, TheTextNamesTheRankAndBothValues) {
  MQBRIDGE_SKIP_IF_NOT_OPENMPI("4."); // transports and launchers of 5.0 have other variables
  const auto text = vars({"--diff"});
  EXPECT_EQ(text.status(), 0);
  EXPECT_THAT(text.out, ContainsRegex("\nrank 2 differs in 2 of [0-9],[0-9]+ variables\n"));
  EXPECT_THAT(text.out,
              ContainsRegex("\n  btl_vader_eager_limit +8192 +environment +4096 +default\n"));
  EXPECT_THAT(text.out, ContainsRegex("left out, each process has its own value: [^(]*vpid"));
}

TEST_F(VariablesOfAJob, FiltersLeaveTheRestOut) {
  const auto text = vars({"--pattern", "btl_vader_eager_limit", "--pattern", "mpi_param*"});
  EXPECT_THAT(text.out, HasSubstr("shown only: pattern btl_vader_eager_limit, mpi_param*\n"));
  EXPECT_THAT(text.out,
              ContainsRegex("\nbtl_vader_eager_limit .*default +0-1,3 +4096\n +environment "
                            "+2 +8192\n"));
  EXPECT_THAT(text.out, Not(HasSubstr("pml_ob1_priority")));
  const json read = document({"--source", "environment", "--rank", "2"});
  ASSERT_EQ(read["ranks"].size(), 1U);
  std::set<std::string> names;
  for (const json& variable : read["ranks"][0]["variables"]["variables"])
    names.insert(variable["name"]);
  EXPECT_TRUE(names.contains("btl_vader_eager_limit"));
  EXPECT_TRUE(names.contains("mpi_param_check"));
  EXPECT_FALSE(names.contains("pml_ob1_priority"));
}

TEST_F(VariablesOfAJob, ComeFromTheNodesAsWell) {
  const auto far = run_mqbridge({"vars", "--collect", "--launcher", "local", "--mpirun",
                                 std::to_string(job_.launcher()), "--diff", "--format", "json"});
  ASSERT_EQ(far.status(), 0) << testing::PrintToString(far);
  const json read = json::parse(far.out);
  EXPECT_EQ(schema_violation(read), "");
  const json near = document({"--diff"});
  EXPECT_EQ(read["variable_differences"][0]["differences"],
            near["variable_differences"][0]["differences"]);
  EXPECT_EQ(read["ranks"][2]["variables"]["variables"], near["ranks"][2]["variables"]["variables"]);
}

TEST_F(VariablesOfAJob, LinesHaveThemAndTheFindings) {
  MQBRIDGE_SKIP_IF_NOT_OPENMPI("4."); // transports and launchers of 5.0 have other variables
  const auto lines = vars({"--diff", "--format", "ndjson"});
  EXPECT_EQ(lines.status(), 0);
  std::istringstream in(lines.out);
  std::size_t with_variables = 0;
  json last;
  for (std::string line; std::getline(in, line);) {
    last = json::parse(line);
    with_variables += last.contains("variables") ? 1 : 0;
  }
  EXPECT_EQ(with_variables, std::size_t{rank_count});
  EXPECT_EQ(last["type"], "summary");
  EXPECT_EQ(last["variable_differences"][0]["differences"].size(), 2U);
}

TEST(LongUnexpectedQueues, AreThoseOfMoreMessages) {
  SingleProcess process("many_messages", {"25"});
  const auto queues = [&](const char* longer_than) {
    const auto outcome = run_mqbridge(
        {"vars", "--unexpected", longer_than, local_target(process.pid()), "--format", "json"});
    EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
    const json read = json::parse(outcome.out);
    EXPECT_EQ(schema_violation(read), "");
    EXPECT_EQ(read["unexpected_lengths"]["unknown"]["endpoints"], json::array());
    return read["unexpected_lengths"]["queues"];
  };
  const json found = queues("24");
  ASSERT_EQ(found.size(), 1U) << found;
  EXPECT_EQ(found[0]["length"], 25);
  EXPECT_EQ(found[0]["object"], "MPI_COMM_WORLD");
  EXPECT_EQ(found[0]["earlier"], false);
  EXPECT_EQ(queues("25"), json::array());
  EXPECT_EQ(process.finish(), "");
}

struct Recorded {
  std::string mpi;
  JobSpec job;
  json sources;
  std::size_t variables; ///< that it has at least
};

void PrintTo(const Recorded& recorded, std::ostream* out) {
  *out << recorded.mpi;
}

Recorded recorded(const std::string& mpi) {
  const bool mpich = mpi == "mpich";
  Recorded made{mpi, {.program = "tool_variables"}, {"recorder", "memory"}, 600};
  if (mpich)
    made = {mpi, debian_mpich_job("tool_variables", {}, 2), {"recorder"}, 300};
  made.job.environment.emplace_back(
      "LD_PRELOAD",
      fmt::format("{}/recorder/{}/libmqbridge-recorder.so", MQBRIDGE_BINARY_DIRECTORY, mpi));
  made.job.environment.emplace_back("MQBRIDGE_VARIABLES", "1");
  return made;
}

class RecordedVariables : public testing::TestWithParam<Recorded> {};

INSTANTIATE_TEST_SUITE_P(, RecordedVariables,
                         testing::Values(recorded("openmpi"), recorded("mpich")),
                         [](const auto& of) { return of.param.mpi; });

TEST_P(RecordedVariables, AreThoseThatEachRankReadsItself) {
  if (GetParam().mpi == "mpich")
    MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  MpiJob job(GetParam().job);
  std::vector<std::string> arguments = {"vars", "--kind", "control"};
  for (int rank = 0; rank < job.ranks(); ++rank)
    arguments.push_back(local_target(job.pid(rank)));
  const auto text = run_mqbridge(arguments);
  arguments.insert(arguments.end(), {"--format", "json"});
  const auto outcome = run_mqbridge(arguments);
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const json read = json::parse(outcome.out);
  EXPECT_EQ(schema_violation(read), "");
  ASSERT_EQ(read["ranks"].size(), std::size_t{2});
  for (const json& rank : read["ranks"]) {
    const auto said = said_by(job, rank["rank"]);
    ASSERT_GT(said.size(), GetParam().variables);
    EXPECT_EQ(rank["variables"]["sources"], GetParam().sources);
    EXPECT_EQ(rank["errors"], json::array());
    expect_control_variables(rank["variables"]["variables"], said);
  }
  EXPECT_THAT(text.out, HasSubstr("from the recorder"));
  EXPECT_EQ(job.finish(), "") << "no rank was disturbed";
}

TEST(VariablesOfMpich, WithoutARecorderAreAnErrorAndNoEmptyList) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  MpiJob job(debian_mpich_job("tool_variables", {}, 1));
  const auto outcome = run_mqbridge({"vars", local_target(job.pid(0)), "--format", "json"});
  EXPECT_EQ(outcome.status(), 3) << testing::PrintToString(outcome);
  const json rank = json::parse(outcome.out)["ranks"].at(0);
  EXPECT_FALSE(rank.contains("variables"));
  EXPECT_THAT(find_error(rank, "variables.unknown")["hint"].get<std::string>(),
              HasSubstr("recorder"));
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
