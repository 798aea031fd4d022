#include "bench/delaying_link/line.h"

#include <gtest/gtest.h>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{1h};

TEST(Line, ADelayIsHalfTheRoundTrip) {
  Line line({.round_trip = 10ms});
  const auto begins = line.begin(start, 1000);
  EXPECT_EQ(begins, start);
  EXPECT_EQ(line.arrival(begins, 1000), start + 5ms);
  EXPECT_EQ(line.arrived(begins, start + 4999us, 1000), 0U);
  EXPECT_EQ(line.arrived(begins, start + 5ms, 1000), 1000U);
}

TEST(Line, AByteWaitsForThoseBeforeIt) {
  Line line({.round_trip = 2ms, .bytes_per_second = 1000});
  EXPECT_EQ(line.begin(start, 10), start);
  const auto second = line.begin(start + 4ms, 10);
  EXPECT_EQ(second, start + 10ms);
  EXPECT_EQ(line.arrival(second, 10), start + 21ms);
  EXPECT_EQ(line.arrived(second, start + 16ms, 10), 5U);
}

TEST(Line, AFreeLineIsNotOwedAnything) {
  Line line({.round_trip = 0ms, .bytes_per_second = 1000});
  EXPECT_EQ(line.begin(start, 10), start);
  EXPECT_EQ(line.begin(start + 1s, 10), start + 1s);
}

TEST(Line, WhatArrivalSaysHasArrivedThen) {
  for (const double rate : {11'520.0, 125e3, 1.25e6, 125e6}) {
    Line line({.round_trip = 100us, .bytes_per_second = rate});
    const auto begins = line.begin(start, 5000);
    for (std::size_t bytes = 1; bytes <= 5000; bytes += 7)
      EXPECT_EQ(line.arrived(begins, line.arrival(begins, bytes), 5000), bytes) << rate;
  }
}

TEST(Line, AStepIsAByteOrATenthOfAMillisecond) {
  EXPECT_EQ(Line({.bytes_per_second = LinkSpec::of_baud(9600)}).step(), 1U);
  EXPECT_EQ(Line({.bytes_per_second = LinkSpec::of_bits(10e6)}).step(), 125U);
}

} // namespace
} // namespace mqbridge::bench
