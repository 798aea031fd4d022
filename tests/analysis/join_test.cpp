#include "host/analysis/analyze.h"
#include "host/analysis/join.h"
#include "tests/analysis/job_on_paper.h"
#include "tests/analysis/recorded_job.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::JobOnPaper;

/// A document of one rank of the job, taken at that second.
NamedDump part(const JobOnPaper& job, std::size_t rank, int second) {
  NamedDump named{"rank" + std::to_string(rank) + ".json", job.dump};
  named.dump.ranks = {job.dump.ranks[rank]};
  named.dump.taken_at = "2026-01-02T03:04:0" + std::to_string(second) + ".000Z";
  named.dump.ranks.front().stopped_at = named.dump.taken_at;
  for (Communicator& communicator : named.dump.ranks.front().communicators)
    communicator.key = "C9"; // each document has names of its own
  return named;
}

JobOnPaper ring() {
  JobOnPaper job(2);
  job.blocked_receive(0, 1);
  job.blocked_receive(1, 0);
  return job;
}

TEST(JoinDocuments, OfDifferentRanksAreOneJob) {
  const auto job = ring();
  const auto joined = join_documents({part(job, 1, 2), part(job, 0, 1)});
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->ranks.size(), 2U);
  EXPECT_EQ(joined->ranks[0].rank, 0);
  EXPECT_EQ(joined->ranks[0].communicators.front().key, "C1");
  EXPECT_EQ(joined->ranks[1].communicators.front().key, "C1");
  EXPECT_TRUE(joined->earlier.empty());
  EXPECT_EQ(analyze(*joined).verdict, Verdict::deadlock);
}

TEST(JoinDocuments, OfTheSameRanksAreLooksInTheirOrder) {
  const auto job = ring();
  auto newer = part(job, 0, 9);
  newer.dump.ranks.front().blocked_in->front().call = "MPI_Wait";
  const auto joined = join_documents({newer, part(job, 0, 1), part(job, 1, 2), part(job, 1, 8)});
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->earlier.size(), 1U);
  EXPECT_EQ(joined->earlier.front().ranks.size(), 2U);
  EXPECT_EQ(joined->ranks[0].blocked_in->front().call, "MPI_Wait");
  EXPECT_EQ(joined->earlier.front().ranks.front().blocked_in->front().call, "MPI_Recv");
  EXPECT_EQ(joined->taken_at, "2026-01-02T03:04:09.000Z");
}

TEST(JoinDocuments, TakesTheEarlierLooksOfADocument) {
  auto job = ring();
  job.look_again();
  const auto joined = join_documents({{"both.json", job.dump}});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->earlier.size(), 1U);
  EXPECT_EQ(analyze(*joined).confidence, Confidence::certain);
}

TEST(JoinDocuments, TheSameLookTwiceIsOne) {
  const auto job = ring();
  const auto joined = join_documents({{"a.json", job.dump}, {"b.json", job.dump}});
  ASSERT_TRUE(joined);
  EXPECT_TRUE(joined->earlier.empty());
  EXPECT_EQ(analyze(*joined).confidence, Confidence::likely);
}

TEST(JoinDocuments, ATargetThatFailedInBothLooksIsOneTarget) {
  auto job = ring();
  RankDump failed;
  failed.endpoint = "local:17";
  failed.status = RankStatus::failed;
  job.dump.ranks.push_back(failed);
  EarlierLook before{"2026-01-02T03:04:00.000Z", {job.dump.ranks[0], failed}};
  job.dump.earlier.push_back(before);
  const auto joined = join_documents({{"a.json", job.dump}});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->ranks.size(), 3U);
}

TEST(JoinDocuments, OneRankIsOneProcess) {
  const auto job = ring();
  auto other = part(job, 0, 5);
  other.dump.ranks.front().pid = 77;
  const auto joined = join_documents({part(job, 0, 1), other});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, "analyze.jobs");
}

TEST(JoinDocuments, WhatOneOfThemLeftOutIsNotSeen) {
  const auto job = ring();
  auto filtered = part(job, 0, 1);
  filtered.dump.filters.tags = {17};
  filtered.dump.filters.variables.patterns = {"btl_*"};
  filtered.dump.filters.variables.verbosity = Verbosity::user_all;
  auto stricter = part(job, 1, 2);
  stricter.dump.filters.variables.verbosity = Verbosity::user_basic;
  const auto joined = join_documents({filtered, stricter});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->filters.tags, std::vector<std::int64_t>{17});
  EXPECT_EQ(joined->filters.variables.patterns, std::vector<std::string>{"btl_*"});
  EXPECT_EQ(joined->filters.variables.verbosity, Verbosity::user_basic);
}

/// As lines of NDJSON come: each rank was written before the others were known.
TEST(JoinDocuments, OfRanksWithoutNamesWhatHasArrivedIsWorkedOut) {
  test::RecordedJob job(2);
  job.sent(0, 1, 5);
  for (RankDump& rank : job.dump.ranks)
    for (Communicator& communicator : rank.communicators) {
      communicator.key.clear();
      communicator.queue(OpClass::unexpected).state = QueueState::unavailable;
    }
  const auto joined = join_documents({{"lines", job.dump}});
  ASSERT_TRUE(joined);
  const Queue& unexpected = joined->ranks[1].communicators.front().queue(OpClass::unexpected);
  EXPECT_EQ(unexpected.state, QueueState::available);
  EXPECT_EQ(unexpected.total, 1U);
}

} // namespace
} // namespace mqbridge
