// `mqbridge handles` of a real job: what it says of each rank's handles, of all and of those that
// are asked for, is what the program says that it made (tests/inferiors/handles.c).

#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/schema.h"
#include "tests/handles/said_handles.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;

constexpr int ranks = 3;
const std::string own_platform = "amd64";
const std::string recorded = "recorded"; ///< the same with the recorder

std::string option_of(const std::string& kind) {
  return "--" + (kind == "comm" ? "communicator" : kind);
}

class HandlesCommand : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    e2e::JobSpec spec;
    spec.program = "handles";
    spec.ranks = ranks;
    if (GetParam() != own_platform && GetParam() != recorded) {
      const auto& platform = e2e::foreign_platform(GetParam());
      MQBRIDGE_SKIP_IF_LACKING(e2e::lacking(platform));
      spec = e2e::foreign_job(platform, "handles", ranks);
    }
    // So that no rank fetches a message by itself.
    spec.environment = {{"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                        {"OMPI_MCA_smsc", "^cma"}};
    if (GetParam() == recorded)
      spec.environment.emplace_back("LD_PRELOAD", MQBRIDGE_BINARY_DIRECTORY
                                    "/recorder/openmpi/libmqbridge-recorder.so");
    job_.emplace(spec);
    for (int rank = 0; rank < ranks; ++rank)
      made_.push_back(read_facts(job_->directory() / fmt::format("handles.{}", rank)));
  }

  e2e::Outcome run(std::vector<std::string> arguments, std::vector<int> of) const {
    arguments.insert(arguments.begin(), "handles");
    for (const int rank : of)
      arguments.push_back(e2e::local_target(job_->pid(rank)));
    return e2e::run_mqbridge(arguments);
  }

  /// `handles` of each of these ranks.
  std::vector<json> ask(std::vector<std::string> arguments, const std::vector<int>& of) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto outcome = run(std::move(arguments), of);
    EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
    const json document = json::parse(outcome.out);
    EXPECT_EQ(e2e::schema_violation(document), "");
    std::vector<json> handles;
    for (const json& rank : document["ranks"])
      handles.push_back(rank["handles"]);
    return handles;
  }

  static void expect_said(const HandleFacts& said, const std::string& handle, const Facts& made) {
    ASSERT_THAT(said, Contains(Key(handle)));
    for (const auto& [key, values] : made) {
      ASSERT_THAT(said.at(handle), Contains(Key(key))) << handle;
      EXPECT_THAT(said.at(handle).at(key), Eq(values)) << handle << " " << key;
    }
  }

  /// One that this rank has, with these facts.
  std::string find_made(std::size_t rank, const std::string& kind, const std::string& key,
                        const char* value) const {
    for (const auto& [handle, facts] : made_[rank])
      if (kind_of(handle) == kind && facts.contains(key) && facts.at(key).contains(value))
        return handle.substr(kind.size() + 1);
    ADD_FAILURE() << kind << " with " << key << " " << value;
    return {};
  }

  std::optional<e2e::MpiJob> job_;
  std::vector<HandleFacts> made_; ///< by rank
};

INSTANTIATE_TEST_SUITE_P(, HandlesCommand, testing::Values(own_platform, "i386", recorded),
                         [](const auto& tested) { return tested.param; });

TEST_P(HandlesCommand, ListsWhatTheRanksHave) {
  const auto all = ask({}, {0, 1, 2});
  ASSERT_EQ(all.size(), std::size_t{ranks});
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    SCOPED_TRACE(rank);
    EXPECT_EQ(all[rank]["listed"], true);
    if (GetParam() != recorded) {
      EXPECT_THAT(all[rank]["incomplete"], Eq(json::array({"request"})));
    }
    const auto said = facts_of(all[rank]);
    EXPECT_GT(made_[rank].size(), 30U);
    for (const auto& [handle, facts] : made_[rank]) {
      // Statuses are in no list, and generalized requests only where Fortran has a number for them.
      const bool nowhere = facts.contains("kind") && facts.at("kind").contains("generalized") &&
                           !facts.contains("fortran");
      if (facts.contains("gone"))
        EXPECT_THAT(said, testing::Not(Contains(Key(handle))));
      else if (kind_of(handle) != "status" && !nowhere)
        expect_said(said, handle, facts);
    }
  }
}

TEST_P(HandlesCommand, AnswersForEachThatIsAskedFor) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    SCOPED_TRACE(rank);
    std::vector<std::string> asked;
    for (const auto& [handle, facts] : made_[rank])
      asked.insert(asked.end(),
                   {option_of(kind_of(handle)), handle.substr(kind_of(handle).size() + 1)});
    const json handles = ask(asked, {static_cast<int>(rank)}).at(0);
    EXPECT_EQ(handles["listed"], false);
    const auto said = facts_of(handles);
    for (const auto& [handle, facts] : made_[rank])
      if (!facts.contains("gone"))
        expect_said(said, handle, facts);
    ASSERT_EQ(handles["refused"].size(), 1U) << handles["refused"];
    const json& refused = handles["refused"][0];
    EXPECT_THAT(made_[rank].at("comm " + refused["value"].get<std::string>()),
                Contains(Key("gone")));
    EXPECT_THAT(refused["reason"], HasSubstr("nothing there is such an object"));
  }
}

TEST_P(HandlesCommand, TranslatesThoseOfFortran) {
  std::vector<std::string> asked = {"--fortran"};
  std::set<std::string> expected;
  for (const auto& [handle, facts] : made_[0])
    if (facts.contains("fortran")) {
      asked.insert(asked.end(), {option_of(kind_of(handle)), *facts.at("fortran").begin()});
      expected.insert(handle);
    }
  EXPECT_GT(expected.size(), 10U);
  const json handles = ask(asked, {0}).at(0);
  std::set<std::string> said;
  for (const auto& [handle, facts] : facts_of(handles))
    said.insert(handle);
  EXPECT_EQ(said, expected);
  std::set<std::string> communicators;
  for (const json& communicator : handles["communicators"])
    EXPECT_TRUE(communicators.insert(communicator["handle"]).second) << "twice: " << communicator;
}

TEST_P(HandlesCommand, SaysWhatIsNoHandle) {
  const auto comm = find_made(0, "comm", "name", "a duplicate");
  const auto request = find_made(0, "request", "tag", "17");
  const json handles = ask({"--request", comm, "--request", "0x7", "--communicator", request,
                            "--communicator", "0x7", "--errhandler", "0x7", "--status", "0x8"},
                           {0})
                           .at(0);
  EXPECT_THAT(facts_of(handles), IsEmpty());
  std::vector<std::string> reasons;
  for (const json& refused : handles["refused"])
    reasons.push_back(refused["reason"]);
  const std::string none = ": nothing there is such an object";
  const std::string unread = ": nothing can be read at ";
  EXPECT_THAT(reasons,
              testing::ElementsAre("mpidbg_request_query" + none,
                                   "mpidbg_request_query" + unread + "0x7, where it would be",
                                   "mpidbg_comm_query" + none, "mpidbg_comm_query" + none,
                                   "mpidbg_errhandler_query" + none,
                                   "mpidbg_status_query" + unread + "0x8, where it would be"));
  const json fortran = ask({"--fortran", "--communicator", "9999"}, {0}).at(0);
  EXPECT_THAT(fortran["refused"][0]["reason"], HasSubstr("nothing there is such an object"));
}

TEST_P(HandlesCommand, NamesTheCommunicatorOfARequestAndTheRankInTheWorld) {
  const auto any = run({"--request", find_made(0, "request", "tag", "18")}, {0});
  EXPECT_EQ(any.status(), 0);
  EXPECT_THAT(any.out, HasSubstr("    whose       of communicator a duplicate\n"));
  EXPECT_THAT(any.out, HasSubstr("    message     from ANY tag 18, 3 x pair of ints, "));
  const auto itself = run({"--request", find_made(2, "request", "tag", "17")}, {2});
  EXPECT_EQ(itself.status(), 0);
  EXPECT_THAT(itself.out, HasSubstr("    whose       of communicator MPI_COMM_WORLD\n"));
  EXPECT_THAT(itself.out, HasSubstr("    message     from 2 tag 17, 4 x MPI_INT, "));
}

} // namespace
} // namespace mqbridge
