// More than one look at the same process: what was read once is not read again.

#include "host/dump/rank/rank_session.h"
#include "tests/dump/real/rank_under_test.h"

#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

constexpr bench::LinkSpec ten_ms{.round_trip = 10ms};

TEST(RankSession, TheSecondLookAtAStoppedProcessAsksTheStubNothing) {
  RankUnderTest rank("many_receives", {"1000"}, ServerMode::attach_once, ten_ms);
  DumpTools tools;
  const auto shared = tools.tools();
  std::shared_ptr<rsp::SharedStub> stub;
  const auto target = rank.target();
  const RankObserver observer;
  RankSession session(target, shared, stub, observer);
  ASSERT_TRUE(session.reach({}) && session.open());
  const RankDump first = session.look();
  EXPECT_EQ(first.status, RankStatus::ok) << errors_of(first);
  EXPECT_EQ(receives_of(first), 1000U);
  const auto exchanges = session.counters();
  const RankDump& second = session.look();
  EXPECT_EQ(receives_of(second), 1000U);
  EXPECT_EQ(second.errors.size(), first.errors.size()) << errors_of(second);
  EXPECT_EQ((session.counters() - exchanges).round_trips, 0U);
  const auto outcome = session.close();
  EXPECT_EQ(outcome.dump.status, RankStatus::ok);
  EXPECT_TRUE(rank.finishes());
}

TEST(RankSession, WithoutACacheEveryLookAsks) {
  RankUnderTest rank("recorder_list", {"10", "65536", "1"}, ServerMode::attach_once);
  DumpTools tools;
  tools.options.cache = CacheMode::none;
  const auto shared = tools.tools();
  std::shared_ptr<rsp::SharedStub> stub;
  const auto target = rank.target();
  const RankObserver observer;
  RankSession session(target, shared, stub, observer);
  ASSERT_TRUE(session.reach({}) && session.open());
  session.look();
  const auto exchanges = session.counters();
  EXPECT_EQ(receives_of(session.look()), 10U);
  EXPECT_GE((session.counters() - exchanges).round_trips, 10U);
  const auto outcome = session.close();
  EXPECT_EQ(outcome.dump.statistics.pages_read, std::nullopt);
}

TEST(RankSession, AProcessThatRanOnIsReadByWhatTheLastDumpLookedAt) {
  RankUnderTest rank("many_receives", {"1000"}, ServerMode::multi, ten_ms);
  DumpTools tools;
  const auto first = dump(rank, tools);
  ASSERT_EQ(first.dump.status, RankStatus::ok) << errors_of(first.dump);
  const auto second = dump(rank, tools);
  ASSERT_EQ(second.dump.status, RankStatus::ok) << errors_of(second.dump);
  EXPECT_EQ(receives_of(second.dump), 1000U);
  ASSERT_TRUE(second.plan);
  EXPECT_EQ(second.plan->basis, StopPlan::Basis::replay);
  EXPECT_LE(find_phase(second.dump, PhaseName::walk)->round_trips, 4U);
  EXPECT_TRUE(rank.finishes());
}

/// Records that lie: pages that are not there, or are of no use.
TEST(RankSession, AWrongReplayCostsPagesNotTruth) {
  RankUnderTest rank("recorder_list", {"200", "65536", "1"}, ServerMode::multi);
  DumpTools tools;
  ASSERT_EQ(receives_of(dump(rank, tools).dump), 200U);
  ASSERT_GE(tools.cache().records("replay").size(), 1U);
  const auto session_identity = [&] {
    const auto shared = tools.tools();
    std::shared_ptr<rsp::SharedStub> stub;
    const auto target = rank.target();
    const RankObserver observer;
    RankSession session(target, shared, stub, observer);
    EXPECT_TRUE(session.reach({}) && session.open());
    return session.identity();
  }();
  ASSERT_FALSE(session_identity.empty());
  for (const PageRuns& lie : {PageRuns{{0, 1}, {0x10000, 3000}}, PageRuns{{0xfffffffffff00, 0xff}},
                              PageRuns{{0x7ffff0000, 200'000}}}) {
    tools.replays().keep_process_pages(session_identity, lie);
    const auto outcome = dump(rank, tools);
    EXPECT_EQ(outcome.dump.status, RankStatus::ok) << errors_of(outcome.dump);
    EXPECT_EQ(receives_of(outcome.dump), 200U);
    EXPECT_LT(*outcome.dump.statistics.pages_read, 20'000U) << "bounded, whatever a record says";
  }
  EXPECT_TRUE(rank.finishes());
}

} // namespace
} // namespace mqbridge::test
