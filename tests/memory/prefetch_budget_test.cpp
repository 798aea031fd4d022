#include "host/memory/prefetch_budget.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

constexpr rsp::LinkEstimate fast{10e-3, 100e6, 0}; // 244 pages in flight
constexpr rsp::LinkEstimate slow{10e-3, 1.25e6, 0};

TEST(PrefetchBudget, TheFirstBurstCarriesWhatARoundTripCosts) {
  EXPECT_EQ(guesses_allowed(fast, {}, 1), 244U);
  EXPECT_EQ(guesses_allowed({0, 100e6, 0}, {}, 1), 0U) << "no waiting, nothing to gain";
}

TEST(PrefetchBudget, AnUnknownLinkIsNotGambledWith) {
  EXPECT_EQ(guesses_allowed({}, {100, 0, 10}, 1), 0U);
  EXPECT_EQ(guesses_allowed({10e-3, 0, 0}, {100, 0, 10}, 1), 0U);
}

TEST(PrefetchBudget, WhatWasGuessedInVainIsNotSpentAgain) {
  const auto first = guesses_allowed(fast, {0, 0, 0}, 1);
  EXPECT_EQ(guesses_allowed(fast, {1, first, 1}, 1), 245U) << "another round trip, another page";
  EXPECT_EQ(guesses_allowed(fast, {1, 100'000, 1}, 1), 0U);
  EXPECT_GT(guesses_allowed(fast, {first, 0, 1}, 1), 600U) << "good guesses make for longer ones";
}

// The first pages are often all zeros, and come faster than others do.
TEST(PrefetchBudget, WhatWasGuessedOnALinkThatSeemedFasterIsPaidFor) {
  constexpr rsp::LinkEstimate seemed{10e-3, 400e6, 0};
  const double carried = 2 * pages_in_flight(seemed);
  const auto guessed = static_cast<std::uint64_t>(carried);
  EXPECT_EQ(guesses_allowed(fast, {0, guessed, 2, carried}, 0), 244U);
  EXPECT_EQ(guesses_allowed(fast, {0, guessed, 2, 0}, 0), 0U);
}

TEST(PrefetchBudget, RoundTripsBeforeTheLinkWasKnownCount) {
  EXPECT_EQ(guesses_allowed(fast, {0, 0, 3, 0}, 0), 976U);
}

TEST(PrefetchBudget, InTotalItIsBounded) {
  const ReadSoFar long_walk{1000, 0, 1'000'000};
  EXPECT_EQ(guesses_allowed(fast, long_walk, 0), 8 * 1000 + (64U << 20U) / 4096);
  EXPECT_EQ(guesses_allowed(slow, long_walk, 0), 500U);
  EXPECT_EQ(guesses_allowed(slow, long_walk, 0, true), 4004U);
}

TEST(PrefetchBudget, SlowLinksReadLines) {
  struct {
    const char* why;
    rsp::LinkEstimate link;
    std::size_t unit;
  } const cases[] = {
      {"gdbserver on this machine", {30e-6, 100e6, 0}, 4096},
      {"nothing known", {}, 4096},
      {"115,200 baud", {2e-3, 11.5e3, 0}, 64},
      {"115,200 baud, far away", {50e-3, 11.5e3, 0}, 1024},
      {"1 Mbit/s", {1e-3, 125e3, 0}, 128},
      {"10 Mbit/s", {0.1e-3, 1.25e6, 0}, 128},
      {"10 Mbit/s, not far away", {1e-3, 1.25e6, 0}, 4096},
      {"10 Mbit/s, far away", {10e-3, 1.25e6, 0}, 4096},
  };
  for (const auto& [why, link, unit] : cases)
    EXPECT_EQ(read_unit(link), unit) << why;
}

} // namespace
} // namespace mqbridge
