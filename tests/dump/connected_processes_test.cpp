// Jobs that spawn others and connect with them, as their recorders know them: what is put together
// of both sides is what was made, or nothing.

#include "host/dump/together/communicator_keys.h"
#include "host/dump/together/connected_processes.h"
#include "tests/dump/growing_job.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace mqbridge {
namespace {

using test::GrowingJob;

/// By member of the group, whether all are of this rank's job or not.
std::vector<Member> given(const RankDump& rank, const RankList& ranks,
                          const std::vector<Member>& members) {
  std::vector<Member> all = members;
  if (ranks)
    for (const std::int64_t each : *ranks)
      all.push_back({*rank.job_id, each});
  return all;
}

/// What is said is true; nothing may be said.
void expect_no_falsehood(const GrowingJob& job, const Dump& dump) {
  std::map<std::string, std::size_t> truth_of;
  for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
    const RankDump& rank = dump.ranks[i];
    for (std::size_t c = 0; c < rank.communicators.size(); ++c) {
      const Communicator& communicator = rank.communicators[c];
      const std::size_t truth = job.truth(i, c);
      EXPECT_EQ(truth_of.emplace(communicator.key, truth).first->second, truth)
          << "rank " << i << ": " << communicator.key << " is two communicators";
      const std::size_t side = job.side(i, truth);
      const auto own = given(rank, communicator.group, communicator.members);
      const auto others = given(rank, communicator.remote.ranks, communicator.remote.members);
      EXPECT_TRUE(own.empty() || own == job.members(truth, side));
      EXPECT_TRUE(others.empty() || others == job.members(truth, 1 - side));
    }
  }
}

/// How many members say of a communicator of several jobs that they do not know which one it is.
std::size_t unknown(const GrowingJob& job, const Dump& dump) {
  std::map<std::size_t, std::set<std::string>> keys;
  std::size_t without_members = 0;
  for (std::size_t i = 0; i < dump.ranks.size(); ++i)
    for (std::size_t c = 0; c < dump.ranks[i].communicators.size(); ++c) {
      const Communicator& communicator = dump.ranks[i].communicators[c];
      keys[job.truth(i, c)].insert(communicator.key);
      without_members += communicator.group || !communicator.members.empty() ? 0 : 1;
    }
  for (const auto& [truth, all] : keys)
    without_members += all.size() - 1;
  return without_members;
}

class GrowingJobs : public testing::TestWithParam<std::uint32_t> {};

TEST_P(GrowingJobs, AreKnownWholeWhereAllOfThemAreThere) {
  for (std::uint32_t seed = GetParam(); seed < GetParam() + 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    GrowingJob job(seed, {});
    Dump dump = job.document(1);
    name_communicators(dump, job.job_of());
    expect_no_falsehood(job, dump);
    EXPECT_EQ(unknown(job, dump), 0U);
  }
}

/// Times and sizes alone prove nothing: the true other side may be one that is not in the document.
TEST_P(GrowingJobs, AreNotPutTogetherWithoutMarks) {
  std::size_t several = 0;
  for (std::uint32_t seed = GetParam(); seed < GetParam() + 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    GrowingJob job(seed, {.marks = false});
    Dump dump = job.document(1);
    name_communicators(dump, job.job_of());
    expect_no_falsehood(job, dump);
    for (const RankDump& rank : dump.ranks)
      for (const Communicator& communicator : rank.communicators) {
        several += communicator.joined ? 1 : 0;
        EXPECT_TRUE(communicator.members.empty() && communicator.remote.members.empty());
      }
  }
  EXPECT_GT(several, 100U);
}

TEST_P(GrowingJobs, AreTakenForNoOthersWhereTheyMeetAtTheSameTime) {
  std::size_t known = 0;
  for (std::uint32_t seed = GetParam(); seed < GetParam() + 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    GrowingJob job(seed, {.overlapping = true, .marks = seed % 2 == 0, .most = 60, .steps = 40});
    Dump dump = job.document(1);
    name_communicators(dump, job.job_of());
    expect_no_falsehood(job, dump);
    known += unknown(job, dump) == 0 ? 1 : 0;
  }
  EXPECT_GT(known, 10U) << "of a hundred: the others are doubtful";
}

TEST_P(GrowingJobs, AreTakenForNoOthersWhereSomeAreMissing) {
  for (std::uint32_t seed = GetParam(); seed < GetParam() + 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    GrowingJob job(seed, {.overlapping = seed % 2 == 0, .marks = seed % 3 != 0});
    Dump dump = job.document(0.6);
    name_communicators(dump, job.job_of());
    expect_no_falsehood(job, dump);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, GrowingJobs, testing::Values(1, 1001, 2001));

/// A process that was spawned, and the one that has spawned it.
Dump parent_and_child() {
  Dump dump;
  for (const bool child : {false, true}) {
    RankDump& rank = dump.ranks.emplace_back();
    rank.rank = 0;
    rank.endpoint = "local:1";
    rank.job_id = child ? "child" : "parent";
    Joint joint;
    joint.id = child ? 8 : 7;
    joint.path = 1;
    joint.call = child ? "MPI_Init" : "MPI_Comm_spawn";
    joint.size = joint.remote_size = 1;
    joint.mark = "port";
    joint.began = child ? 1100 : 1000;
    joint.ended = child ? 1900 : 2000;
    rank.joints = {joint};
    Communicator& inter = rank.communicators.emplace_back();
    inter.size = 1;
    inter.local_rank = 0;
    inter.kind = CommunicatorKind::inter;
    inter.joined = Joined{joint.id, 0, {0}, {-1}};
  }
  return dump;
}

bool are_one(Dump dump) {
  name_communicators(dump);
  return dump.ranks[0].communicators[0].key == dump.ranks[1].communicators[0].key;
}

TEST(ConnectedProcesses, AreOneIfNothingSpeaksAgainstIt) {
  EXPECT_TRUE(are_one(parent_and_child()));
  const std::pair<const char*, std::function<void(Dump&)>> cases[] = {
      {"sizes", [](Dump& dump) { dump.ranks[1].joints[0].remote_size = 2; }},
      {"calls", [](Dump& dump) { dump.ranks[0].joints[0].call = "MPI_Comm_accept"; }},
      {"marks",
       [](Dump& dump) {
         dump.ranks[0].joints[0].mark = "one";
         dump.ranks[1].joints[0].mark = "other";
       }},
      {"one mark", [](Dump& dump) { dump.ranks[0].joints[0].mark.clear(); }},
      {"no marks",
       [](Dump& dump) {
         dump.ranks[0].joints[0].mark.clear();
         dump.ranks[1].joints[0].mark.clear();
       }},
      {"begun afterwards",
       [](Dump& dump) {
         dump.ranks[1].joints[0].began = 2001;
         dump.ranks[1].joints[0].ended = 2002;
       }},
      {"left before", [](Dump& dump) { dump.ranks[1].joints[0].ended = 999; }},
      {"two parents",
       [](Dump& dump) {
         dump.ranks[0].joints.push_back(dump.ranks[0].joints[0]);
         dump.ranks[0].joints[1].id = 9;
       }},
      {"another parent without a mark",
       [](Dump& dump) {
         dump.ranks[0].joints.push_back(dump.ranks[0].joints[0]);
         dump.ranks[0].joints[1].id = 9;
         dump.ranks[0].joints[1].mark.clear();
       }},
      {"a list that is not whole", [](Dump& dump) { dump.ranks[0].joints.emplace_back(); }},
      {"the list of another process that is not whole",
       [](Dump& dump) {
         dump.ranks.emplace_back().job_id = "another";
         dump.ranks[2].joints.emplace_back();
       }},
      {"spawns again",
       [](Dump& dump) {
         dump.ranks[0].blocked_in.emplace().push_back({.call = "MPI_Comm_spawn"});
       }},
  };
  for (const auto& [what, change] : cases) {
    Dump dump = parent_and_child();
    change(dump);
    EXPECT_FALSE(are_one(dump)) << what;
  }
}

TEST(ConnectedProcesses, ClocksOfTwoComputersMayDifferALittle) {
  const auto on_two_computers = [](std::uint64_t later) {
    Dump dump = parent_and_child();
    dump.ranks[0].host = "a";
    dump.ranks[1].host = "b";
    dump.ranks[1].joints[0].began = 2000 + later;
    dump.ranks[1].joints[0].ended = 3000 + later;
    return dump;
  };
  EXPECT_TRUE(are_one(on_two_computers(60'000'000)));
  EXPECT_FALSE(are_one(on_two_computers(60'000'001)));
}

/// A server that has met `count` clients through one port, one each `period` us, and these clients.
Dump server_and_clients(std::size_t count, std::uint64_t period) {
  Dump dump;
  dump.ranks.emplace_back();
  for (std::size_t i = 0; i < count; ++i) {
    Joint joint;
    joint.id = i + 1;
    joint.path = 1;
    joint.call = "MPI_Comm_accept";
    joint.size = joint.remote_size = 1;
    joint.mark = "port";
    joint.began = period * (i + 1);
    joint.ended = joint.began + 1000;
    dump.ranks[0].joints.push_back(joint);
    RankDump& client = dump.ranks.emplace_back();
    client.job_id = "client " + std::to_string(i);
    joint.call = "MPI_Comm_connect";
    joint.id = 1;
    client.joints = {joint};
  }
  for (RankDump& rank : dump.ranks) {
    rank.rank = 0;
    rank.endpoint = "local:1";
    for (const Joint& joint : rank.joints) {
      Communicator& inter = rank.communicators.emplace_back();
      inter.size = 1;
      inter.local_rank = 0;
      inter.kind = CommunicatorKind::inter;
      inter.joined = Joined{joint.id, 0, {0}, {-1}};
    }
  }
  dump.ranks[0].job_id = "server";
  return dump;
}

std::size_t known_clients(const Dump& dump) {
  std::size_t known = 0;
  for (std::size_t i = 1; i < dump.ranks.size(); ++i) {
    const bool right = dump.ranks[i].communicators[0].key == dump.ranks[0].communicators[i - 1].key;
    known += right && !dump.ranks[i].communicators[0].remote.members.empty() ? 1 : 0;
  }
  return known;
}

TEST(ConnectedProcesses, OfAServerThatHasMetThousandsAreKnown) {
  constexpr std::size_t count = 3000;
  Dump one_computer = server_and_clients(count, 2000);
  name_communicators(one_computer);
  EXPECT_EQ(known_clients(one_computer), count);
  Dump many = server_and_clients(count, 61'000'000);
  for (std::size_t i = 0; i < many.ranks.size(); ++i)
    many.ranks[i].host = std::to_string(i);
  name_communicators(many);
  EXPECT_EQ(known_clients(many), count);
}

TEST(ConnectedProcesses, ThatMetAllAtOnceAreComparedWithinLimits) {
  Dump dump = server_and_clients(10'000, 0);
  name_communicators(dump);
  EXPECT_EQ(known_clients(dump), 0U);
}

/// Two jobs whose MPI does not tell its name number their joints alike.
TEST(ConnectedProcesses, WithoutAJobsNameAreOfNoJobTogether) {
  Dump dump = parent_and_child();
  dump.ranks.push_back(dump.ranks[1]);
  for (std::size_t i : {1U, 2U}) {
    dump.ranks[i].rank = static_cast<int>(i);
    dump.ranks[i].job_id.reset();
  }
  name_communicators(dump, true);
  EXPECT_NE(dump.ranks[1].communicators[0].key, dump.ranks[2].communicators[0].key);
  EXPECT_TRUE(dump.ranks[0].communicators[0].remote.members.empty());
}

/// As when the same ranks were looked at twice.
TEST(ConnectedProcesses, OfOneDumpWithoutAJobsNameAreOfOneJob) {
  Dump dump = parent_and_child();
  dump.ranks.erase(dump.ranks.begin());
  dump.ranks.push_back(dump.ranks[0]);
  for (std::size_t i : {0U, 1U}) {
    dump.ranks[i].rank = static_cast<int>(i);
    dump.ranks[i].job_id.reset();
    Communicator world;
    world.name = "MPI_COMM_WORLD";
    world.size = 2;
    world.local_rank = static_cast<int>(i);
    world.group = {0, 1};
    dump.ranks[i].communicators.assign(1, world);
  }
  name_communicators(dump);
  EXPECT_EQ(dump.ranks[0].communicators[0].key, dump.ranks[1].communicators[0].key);
  name_communicators(dump, true);
  EXPECT_NE(dump.ranks[0].communicators[0].key, dump.ranks[1].communicators[0].key);
}

/// A document of one process more may show that another side is possible.
TEST(ConnectedProcesses, MembersThatWereGivenAreTakenBack) {
  Dump dump = parent_and_child();
  name_communicators(dump, {0, 1});
  ASSERT_FALSE(dump.ranks[1].communicators[0].remote.members.empty());
  dump.ranks.push_back(dump.ranks[0]);
  dump.ranks[2].job_id = "another";
  name_communicators(dump, {0, 1, 2});
  for (const RankDump& rank : dump.ranks)
    EXPECT_TRUE(rank.communicators[0].remote.members.empty()) << *rank.job_id;
}

TEST(ConnectedProcesses, ContradictingMembersAreNotGiven) {
  Dump dump = parent_and_child();
  dump.ranks.push_back(dump.ranks[1]);
  dump.ranks[2].communicators[0].joined->group = {5};
  dump.ranks[2].rank = 5;
  name_communicators(dump, {0, 1, 1});
  for (const RankDump& rank : dump.ranks) {
    EXPECT_TRUE(rank.communicators[0].remote.members.empty() || rank.job_id == "child");
    EXPECT_FALSE(rank.communicators[0].group && rank.job_id == "child");
  }
}

} // namespace
} // namespace mqbridge
