#include "host/dump/together/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using ::testing::ElementsAre;

struct Said {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> size;
  std::optional<int> given = {};
  std::optional<std::string> job = {};
  std::string identity = {};
};

struct Settled {
  Dump dump;
  std::vector<std::optional<int>> ranks() const {
    std::vector<std::optional<int>> all;
    for (const auto& rank : dump.ranks)
      all.push_back(rank.rank);
    return all;
  }
  std::vector<std::string> endpoints() const {
    std::vector<std::string> all;
    for (const auto& rank : dump.ranks)
      all.push_back(rank.endpoint);
    return all;
  }
  bool warned(std::size_t index, std::string_view code) const {
    for (const auto& error : dump.ranks[index].errors)
      if (error.code == code && error.level == RankError::Level::warning)
        return true;
    return false;
  }
};

Settled settle(const std::vector<Said>& all) {
  Settled settled;
  std::vector<RankClaim> claims;
  for (std::size_t i = 0; i < all.size(); ++i) {
    RankDump rank;
    rank.endpoint = std::string(1, static_cast<char>('a' + i));
    rank.world_rank = all[i].rank;
    rank.world_size = all[i].size;
    settled.dump.ranks.push_back(rank);
    claims.push_back({all[i].given, all[i].job, std::nullopt, std::nullopt, all[i].identity});
  }
  settle_job(settled.dump, claims);
  return settled;
}

TEST(JobView, RanksAreWhatTheProcessesSayAndAreOrdered) {
  const auto settled = settle({{2, 4}, {0, 4}, {3, 4}});
  EXPECT_THAT(settled.ranks(), ElementsAre(0, 2, 3));
  EXPECT_THAT(settled.endpoints(), ElementsAre("b", "a", "c"));
  EXPECT_EQ(settled.dump.ranks[0].rank_source, RankSource::comm_world);
  EXPECT_EQ(settled.dump.job_size, 4);
}

TEST(JobView, ATargetThatSaysNothingHasNoRankAndComesLast) {
  EXPECT_THAT(settle({{{}, {}}, {{}, {}}}).ranks(), ElementsAre(std::nullopt, std::nullopt));
  const auto settled = settle({{{}, {}}, {1, 4}, {0, 4}});
  EXPECT_THAT(settled.ranks(), ElementsAre(0, 1, std::nullopt));
  EXPECT_EQ(settled.dump.ranks[2].rank_source, RankSource::unknown);
  EXPECT_EQ(settled.dump.ranks[2].job_id, std::nullopt);
  EXPECT_FALSE(settled.warned(2, "job.several"));
}

TEST(JobView, AGivenRankIsTheTargetsEvenIfItSaysNothing) {
  const auto settled = settle({{{}, {}, 1}, {0, 2}});
  EXPECT_THAT(settled.ranks(), ElementsAre(0, 1));
  EXPECT_EQ(settled.dump.ranks[1].rank_source, RankSource::given);
}

TEST(JobView, GivenRanksWinAndAContradictionIsSaid) {
  const auto settled = settle({{0, 2, 5}, {1, 2, 1}});
  EXPECT_THAT(settled.ranks(), ElementsAre(1, 5));
  EXPECT_FALSE(settled.warned(0, "rank.mismatch"));
  EXPECT_TRUE(settled.warned(1, "rank.mismatch"));
}

struct Different {
  const char* why;
  Said first, second;
};

TEST(JobView, TargetsThatContradictEachOtherAreDifferentJobs) {
  const Different cases[] = {
      {"same rank", {1, 2}, {1, 2}},
      {"other world size", {1, 2}, {1, 3}},
      {"other launcher name", {1, 2, {}, "j1"}, {1, 2, {}, "j2"}},
  };
  for (const auto& test : cases) {
    const auto settled = settle({test.first, test.second});
    EXPECT_THAT(settled.ranks(), ElementsAre(1, 1)) << test.why;
    EXPECT_NE(settled.dump.ranks[0].job_id, settled.dump.ranks[1].job_id) << test.why;
    EXPECT_EQ(settled.dump.ranks[0].rank_source, RankSource::comm_world) << test.why;
    EXPECT_TRUE(settled.warned(0, "job.several")) << test.why;
    EXPECT_EQ(settled.dump.job_size, std::nullopt) << test.why;
  }
}

TEST(JobView, EachJobHasRanksOfItsOwnAndIsInOnePiece) {
  const auto settled =
      settle({{1, 2, {}, "j1"}, {1, 3, {}, "j2"}, {0, 3, {}, "j2"}, {0, 2, {}, "j1"}});
  EXPECT_THAT(settled.endpoints(), ElementsAre("d", "a", "c", "b"));
  EXPECT_THAT(settled.ranks(), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(settled.dump.ranks[1].job_id, "1:j1");
  EXPECT_EQ(settled.dump.ranks[2].job_id, "2:j2");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(settled.warned(i, "job.several"), i % 2 == 0) << i << ": one line for each job";
}

/// Rank 1 of either may be the other one's: nothing in the processes tells.
TEST(JobView, JobsWithoutANameAreSaidToBeGuessed) {
  const auto guessed = settle({{0, 2}, {0, 2}, {1, 2}, {1, 2}});
  EXPECT_THAT(guessed.dump.ranks[0].errors.front().hint, testing::HasSubstr("one at a time"));
  const auto named = settle({{0, 2, {}, "j1"}, {0, 2, {}, "j2"}});
  EXPECT_EQ(named.dump.ranks[0].errors.front().hint, "");
}

TEST(JobView, AProcessThatTwoTargetsLeadToIsOneRankAndNoSecondJob) {
  const auto settled =
      settle({{1, 2, {}, "j", "same"}, {0, 2, {}, "j", "other"}, {1, 2, {}, "j", "same"}});
  EXPECT_THAT(settled.ranks(), ElementsAre(0, 1, std::nullopt));
  EXPECT_EQ(settled.dump.job_size, 2);
  const RankDump& second = settled.dump.ranks[2];
  EXPECT_EQ(second.status, RankStatus::failed);
  EXPECT_EQ(second.endpoint, "c");
  ASSERT_EQ(second.errors.size(), 1U);
  EXPECT_EQ(second.errors[0].code, "target.twice");
  EXPECT_THAT(second.errors[0].message, ::testing::HasSubstr("same process as a"));
}

/// Without random addresses an emulator gives every process the same ones.
TEST(JobView, AnIdentityAloneMakesNoTwoProcessesTheSame) {
  const auto singles = settle({{0, 1, {}, {}, "same"}, {0, 1, {}, {}, "same"}});
  EXPECT_THAT(singles.ranks(), ElementsAre(0, 0));
  const auto ranks = settle({{0, 2, {}, "j", "same"}, {1, 2, {}, "j", "same"}});
  EXPECT_THAT(ranks.ranks(), ElementsAre(0, 1));
}

TEST(JobView, ATargetThatSaysNothingIsOfNoJobWhereThereAreSeveral) {
  const auto settled = settle({{0, 2}, {{}, {}}, {0, 3}});
  EXPECT_THAT(settled.endpoints(), ElementsAre("a", "c", "b"));
  EXPECT_EQ(settled.dump.ranks[2].job_id, std::nullopt);
  EXPECT_NE(settled.dump.ranks[0].job_id, settled.dump.ranks[1].job_id);
  ASSERT_TRUE(settled.warned(2, "job.several"));
  EXPECT_THAT(settled.dump.ranks[2].errors.back().message,
              ::testing::HasSubstr("does not say to which"));
}

Communicator communicator(std::string name, std::vector<std::int64_t> group) {
  Communicator result;
  result.name = std::move(name);
  result.size = static_cast<std::int64_t>(group.size());
  result.group = std::move(group);
  return result;
}

TEST(JobView, TheSameCommunicatorHasTheSameKeyOnEveryRank) {
  Dump dump;
  dump.ranks.resize(2);
  dump.ranks[0].communicators = {communicator("MPI_COMM_WORLD", {0, 1}),
                                 communicator("MPI_COMM_SELF", {0}), communicator("row", {0, 1}),
                                 communicator("row", {1, 0}), communicator("row", {0, 1})};
  dump.ranks[1].communicators = {communicator("MPI_COMM_WORLD", {0, 1}),
                                 communicator("MPI_COMM_SELF", {1}), communicator("row", {1, 0}),
                                 communicator("row", {0, 1})};
  settle_job(dump, std::vector<RankClaim>(2));
  std::vector<std::vector<std::string>> keys(2);
  for (std::size_t i = 0; i < 2; ++i)
    for (const auto& each : dump.ranks[i].communicators)
      keys[i].push_back(each.key);
  EXPECT_THAT(keys[0], ElementsAre("C1", "C5", "C2", "C3", "C4"));
  EXPECT_THAT(keys[1], ElementsAre("C1", "C6", "C3", "C2"));
}

TEST(JobView, AContextIdTellsCommunicatorsApartWhateverTheirNames) {
  Dump dump;
  dump.ranks.resize(2);
  dump.ranks[0].communicators = {communicator("a", {0, 1}), communicator("b", {0, 1})};
  dump.ranks[1].communicators = {communicator("b", {0, 1}),
                                 communicator("named here alone", {0, 1})};
  dump.ranks[0].communicators[0].context = dump.ranks[1].communicators[1].context = 3;
  dump.ranks[0].communicators[1].context = dump.ranks[1].communicators[0].context = 4;
  settle_job(dump, std::vector<RankClaim>(2));
  EXPECT_EQ(dump.ranks[0].communicators[0].key, dump.ranks[1].communicators[1].key);
  EXPECT_EQ(dump.ranks[0].communicators[1].key, dump.ranks[1].communicators[0].key);
  EXPECT_NE(dump.ranks[0].communicators[0].key, dump.ranks[0].communicators[1].key);
}

/// Ranks 0 and 1 of two jobs "a" and "b", in this order, each with one communicator.
std::vector<std::string> keys_of_two_jobs(const std::vector<Communicator>& each) {
  Dump dump;
  std::vector<RankClaim> claims;
  for (std::size_t i = 0; i < each.size(); ++i) {
    auto& rank = dump.ranks.emplace_back();
    rank.world_rank = static_cast<std::int64_t>(i % 2);
    rank.world_size = 2;
    rank.communicators = {each[i]};
    rank.communicators[0].context = 7;
    claims.push_back({std::nullopt, i < 2 ? "a" : "b", std::nullopt, std::nullopt, {}});
  }
  settle_job(dump, claims);
  std::vector<std::string> keys;
  for (const auto& rank : dump.ranks)
    keys.push_back(rank.communicators[0].key);
  return keys;
}

Communicator of_two_jobs() {
  Communicator merged;
  merged.size = 4;
  merged.local_rank = 0;
  merged.members = {{"a", 0}, {"a", 1}, {"b", 0}, {"b", 1}};
  return merged;
}

TEST(JobView, ACommunicatorOfTwoJobsHasOneKey) {
  EXPECT_THAT(keys_of_two_jobs(std::vector(4, of_two_jobs())), ElementsAre("C1", "C1", "C1", "C1"));
  auto reversed = of_two_jobs();
  std::swap(reversed.members[0], reversed.members[3]);
  EXPECT_THAT(keys_of_two_jobs({of_two_jobs(), of_two_jobs(), reversed, reversed}),
              ElementsAre("C1", "C1", "C2", "C2"));
}

TEST(JobView, BothSidesOfAnIntercommunicatorHaveOneKey) {
  std::vector<Communicator> each;
  for (const char* remote : {"b", "b", "a", "a"}) {
    each.push_back(communicator("", {0, 1}));
    each.back().kind = CommunicatorKind::inter;
    each.back().remote.members = {{remote, 0}, {remote, 1}};
  }
  EXPECT_THAT(keys_of_two_jobs(each), ElementsAre("C1", "C1", "C1", "C1"));
}

TEST(JobView, MembersAreNamedAsTheJobsOfTheDocument) {
  Dump dump;
  dump.ranks.resize(2);
  for (auto& rank : dump.ranks) {
    rank.world_rank = 0;
    rank.communicators = {of_two_jobs()};
    rank.communicators[0].members.push_back({"c", 0});
  }
  std::vector<RankClaim> claims(2);
  claims[1].name_space = "b"; // the first one has its own name from its communicator alone
  settle_job(dump, claims);
  EXPECT_EQ(dump.ranks[0].job_id, "1:a");
  EXPECT_EQ(dump.ranks[1].job_id, "2:b");
  EXPECT_THAT(dump.ranks[0].communicators[0].members,
              ElementsAre(Member{"1:a", 0}, Member{"1:a", 1}, Member{"2:b", 0}, Member{"2:b", 1},
                          Member{"c", 0}));
}

/// Communicators without a common process may have the same context id.
TEST(JobView, HalvesWithOneContextIdAreTwoCommunicators) {
  const auto keys = [](const std::vector<std::optional<std::vector<std::int64_t>>>& groups) {
    Dump dump;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto& rank = dump.ranks.emplace_back();
      rank.world_rank = static_cast<std::int64_t>(i);
      rank.world_size = 4;
      rank.communicators = {communicator("half", {0, 0})};
      rank.communicators[0].context = 7;
      rank.communicators[0].group = groups[i];
    }
    settle_job(dump, std::vector<RankClaim>(groups.size()));
    std::vector<std::string> all;
    for (const auto& rank : dump.ranks)
      all.push_back(rank.communicators[0].key);
    return all;
  };
  using Ranks = std::vector<std::int64_t>;
  EXPECT_THAT(keys({Ranks{2, 0}, Ranks{3, 1}, Ranks{2, 0}, Ranks{3, 1}}),
              ElementsAre("C1", "C2", "C1", "C2"));
  // Not known: it may be either.
  EXPECT_THAT(keys({std::nullopt, std::nullopt, Ranks{2, 0}, Ranks{3, 1}}),
              ElementsAre("C1", "C2", "C3", "C4"));
}

TEST(JobView, TwoOfMoreThanHalfOfTheJobAreOne) {
  Dump dump;
  dump.ranks.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    dump.ranks[i].world_rank = static_cast<std::int64_t>(i);
    dump.ranks[i].world_size = 4;
    dump.ranks[i].communicators = {communicator("local name", {0, 1, 2}),
                                   communicator("local name", {0, 1, 2})};
    dump.ranks[i].communicators[0].context = 7 + i;
    dump.ranks[i].communicators[1].context = 8 - i;
    for (auto& each : dump.ranks[i].communicators)
      each.group.reset();
  }
  settle_job(dump, std::vector<RankClaim>(2));
  EXPECT_EQ(dump.ranks[0].communicators[0].key, dump.ranks[1].communicators[1].key);
  EXPECT_EQ(dump.ranks[0].communicators[1].key, dump.ranks[1].communicators[0].key);
  EXPECT_NE(dump.ranks[0].communicators[0].key, dump.ranks[0].communicators[1].key);
  // Members may be of another job: two that have nothing in common.
  dump.ranks[0].communicators.emplace_back().kind = CommunicatorKind::inter;
  settle_job(dump, std::vector<RankClaim>(2));
  EXPECT_NE(dump.ranks[0].communicators[0].key, dump.ranks[1].communicators[1].key);
}

} // namespace
} // namespace mqbridge
