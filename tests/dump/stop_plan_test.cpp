#include "host/dump/rank/stop_plan.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Basis = StopPlan::Basis;

constexpr rsp::LinkEstimate fast{.round_trip = 0.001, .bytes_per_second = 100e6};
constexpr rsp::LinkEstimate serial{.round_trip = 0.01, .bytes_per_second = 5'000};

TEST(StopPlan, GoesByWhatIsKnownBest) {
  StopFacts facts{fast};
  facts.extent = QueueExtent{1000, 768'000};
  EXPECT_EQ(plan_stop(facts).basis, Basis::extent);
  EXPECT_GE(plan_stop(facts).bytes, 768'000U);
  facts.replay = {{0x7f000, 203}};
  EXPECT_EQ(plan_stop(facts).basis, Basis::replay);
  EXPECT_EQ(plan_stop(facts).bytes, 203U * 4096);
  facts.pages_read = 60;
  EXPECT_FALSE(plan_stop(facts).is_upper_bound);
}

/// MPICH's first dump: nothing says how much its DLL will look at.
TEST(StopPlan, WithoutFactsThereIsNoWarning) {
  StopFacts facts{serial};
  facts.held_so_far = 30s;
  const auto plan = plan_stop(facts);
  EXPECT_EQ(plan.basis, Basis::nothing);
  EXPECT_EQ(plan.bytes, 0U);
  EXPECT_FALSE(long_stop_warning(plan, std::nullopt));
  EXPECT_FALSE(long_stop_warning(plan, 1s));
}

// What a process says of its requests may be nonsense: an estimate all the same.
TEST(StopPlan, AnImpossibleExtentIsAnAmountToo) {
  StopFacts facts{fast};
  facts.extent = QueueExtent{~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(plan_stop(facts).bytes, 10'000'000'000'000'000'000U);
  EXPECT_TRUE(std::isfinite(plan_stop(facts).held.count()));
}

TEST(StopPlan, ALinkThatIsNotKnownCountsAsFast) {
  StopFacts facts;
  facts.extent = QueueExtent{1000, 768'000};
  const auto plan = plan_stop(facts);
  EXPECT_GT(plan.held, 0s);
  EXPECT_LT(plan.held, 100ms);
}

TEST(StopPlan, WhatEachCacheCosts) {
  StopFacts facts{fast};
  facts.extent = QueueExtent{1000, 768'000};
  const auto full = plan_stop(facts).walk;
  facts.cache = CacheMode::page;
  const auto page = plan_stop(facts).walk;
  facts.cache = CacheMode::none;
  const auto none = plan_stop(facts).walk;
  EXPECT_GT(page, 200 * 1ms) << "a round trip a page";
  EXPECT_GT(none, 10'000 * 1ms) << "a round trip a fetch";
  EXPECT_LT(full, 40ms);
}

TEST(StopPlan, TheTimeHeldSoFarIsPartOfIt) {
  StopFacts facts{fast};
  const auto alone = plan_stop(facts);
  facts.held_so_far = 3s;
  EXPECT_NEAR((plan_stop(facts).held - alone.held).count(), 3, 1e-9);
  EXPECT_EQ(plan_stop(facts).walk, alone.walk);
}

TEST(StopPlan, PagesThatAreThereAreNotReadAgain) {
  StopFacts facts{serial};
  facts.replay = {{0x7f000, 100}};
  const auto all = plan_stop(facts);
  facts.pages_read = 75;
  const auto rest = plan_stop(facts);
  EXPECT_EQ(rest.bytes, all.bytes);
  EXPECT_NEAR(rest.walk / all.walk, 0.25, 0.02);
  facts.pages_read = 1000; // others among them
  EXPECT_LT(plan_stop(facts).walk, 100ms);
}

TEST(StopPlan, WarnsWhereATargetIsHeldForLong) {
  StopFacts facts{serial};
  facts.extent = QueueExtent{100, 76'800};
  const auto plan = plan_stop(facts);
  ASSERT_GT(plan.held, 10s);
  const auto warning = long_stop_warning(plan, std::nullopt);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->code, "stop.long");
  EXPECT_THAT(warning->message, HasSubstr("held about"));
  EXPECT_THAT(warning->hint, HasSubstr("--max-stop S"));
  const auto cut = long_stop_warning(plan, 5s);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->message, HasSubstr("--max-stop will end that before"));
  EXPECT_FALSE(long_stop_warning(plan, 1h)) << "it was allowed to";
  facts.link = fast;
  EXPECT_FALSE(long_stop_warning(plan_stop(facts), std::nullopt));
}

// 30 pages tell of a slow link how slow it is; of a fast one that it is.
TEST(StopPlan, AFewPagesOfAFastLinkAreNoForecastOfMany) {
  StopFacts facts{fast};
  facts.extent = QueueExtent{500'000, 384'000'000};
  facts.pages_read = 30;
  EXPECT_THAT(long_stop_warning(plan_stop(facts), std::nullopt).value().message,
              HasSubstr("held up to"));
  facts.pages_read = 3000;
  EXPECT_FALSE(plan_stop(facts).is_upper_bound);
  facts.pages_read = 30;
  facts.link = serial;
  EXPECT_FALSE(plan_stop(facts).is_upper_bound);
}

TEST(StopPlan, PagesAreLookedAtWhileMoreOfThemCome) {
  StopFacts facts{fast};
  facts.extent = QueueExtent{100'000, 76'800'000};
  EXPECT_LT(plan_stop(facts).walk, 800ms) << "0.77 s of the link, beside it the host's 0.25 s";
}

TEST(StopPlan, ASlowLineWarnsBeforeTheAttach) {
  EXPECT_EQ(start_up_time({}), 0s) << "not known";
  EXPECT_FALSE(long_start_warning(start_up_time(fast), std::nullopt));
  const auto start_up = start_up_time(serial);
  EXPECT_GT(start_up, 2s);
  EXPECT_THAT(long_start_warning(start_up, std::nullopt).value().message,
              HasSubstr("the line is slow"));
  EXPECT_THAT(long_start_warning(start_up, 1s).value().message,
              HasSubstr("longer than --max-stop allows"));
  EXPECT_FALSE(long_start_warning(start_up, 1h));
}

} // namespace
} // namespace mqbridge
