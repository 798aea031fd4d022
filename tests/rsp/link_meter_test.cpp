#include "rsp/link_meter.h"

#include <chrono>
#include <gmock/gmock.h>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::DoubleNear;

TEST(LinkMeterTest, NothingIsKnownAtFirst) {
  const LinkEstimate estimate = LinkMeter().estimate();
  EXPECT_EQ(estimate.round_trip, 0);
  EXPECT_EQ(estimate.bytes_per_second, 0);
  EXPECT_EQ(estimate.per_request, 0);
}

TEST(LinkMeterTest, TheRoundTripIsTheShortestOfTheLast) {
  LinkMeter meter;
  for (const auto time : {12ms, 10ms, 30ms})
    meter.round_trip(time);
  EXPECT_DOUBLE_EQ(meter.estimate().round_trip, 0.010);
  for (int i = 0; i < 16; ++i)
    meter.round_trip(20ms);
  EXPECT_DOUBLE_EQ(meter.estimate().round_trip, 0.020);
}

TEST(LinkMeterTest, RequestsAndBytesAreToldApart) {
  constexpr double per_request = 20e-6;
  constexpr double per_byte = 1e-8;
  LinkMeter meter;
  for (const auto& [requests, bytes] :
       {std::pair(10, 400'000), std::pair(200, 40'000), std::pair(50, 1'000'000)})
    meter.burst(static_cast<std::size_t>(requests), static_cast<std::size_t>(bytes),
                std::chrono::duration_cast<LinkMeter::Duration>(
                    std::chrono::duration<double>(requests * per_request + bytes * per_byte)));
  EXPECT_THAT(meter.estimate().per_request, DoubleNear(per_request, 1e-7));
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(1 / per_byte, 1e6));
}

// Who reads page by page has nothing longer to measure.
TEST(LinkMeterTest, APageThatComesAtOnceSaysHowFastTheLinkIsAtLeast) {
  LinkMeter meter;
  meter.came(4096, 0, 20us); // not of memory
  EXPECT_GE(meter.estimate().bytes_per_second, 2048 / 200e-6);
  meter.came(400, 4096, 20us); // mostly zeros
  EXPECT_GE(meter.estimate().bytes_per_second, 4096 / 200e-6);
  meter.came(16384, 8192, -10us); // less than the round trip was thought to be
  EXPECT_GE(meter.estimate().bytes_per_second, 8192 / 200e-6);
}

TEST(LinkMeterTest, WhatWasMeasuredGoesBeforeWhatItIsAtLeast) {
  LinkMeter meter;
  meter.came(16384, 8192, 20us);
  meter.burst(1, 4096, 4ms);
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(1.024e6, 1e3));
  meter.came(16384, 8192, 20us);
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(1.024e6, 1e3));
}

// On a machine that is busy elsewhere the shorter burst may well be the slower one.
TEST(LinkMeterTest, BytesThatSeemToCostNothingLeaveTheRateKnown) {
  LinkMeter meter;
  meter.burst(200, 200'000, 40ms);
  meter.burst(10, 400'000, 1ms);
  meter.burst(100, 50'000, 30ms);
  meter.burst(2, 8192, 210us);
  for (int i = 0; i < 50; ++i) {
    meter.burst(2, i % 2 == 0 ? 8192 : 16'384, i % 2 == 0 ? 900us : 300us);
    EXPECT_GT(meter.estimate().bytes_per_second, 1e6) << i;
  }
}

// As many zeros as one likes fit through a narrow link; what comes next may be something else.
TEST(LinkMeterTest, OfASlowLinkNoMoreIsExpectedThanItCarries) {
  LinkMeter meter;
  meter.burst(32, 256 * 1024, 40ms);
  meter.came(5'000, 256 * 1024, 40ms);
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(125e3, 1));
}

TEST(LinkMeterTest, OfAFastLinkZerosAreExpected) {
  LinkMeter meter;
  meter.burst(32, 256 * 1024, 1ms);
  meter.came(5'000, 256 * 1024, 1ms);
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(256 * 1024 / 1e-3, 1e3));
}

// Another program had the processor.
TEST(LinkMeterTest, OneStallDoesNotMakeALinkSlow) {
  LinkMeter meter;
  meter.burst(1, 65'536, 1ms);
  meter.came(131'072, 65'536, 1ms);
  meter.came(8'192, 4'096, 10ms);
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(65.5e6, 1e6));
}

TEST(LinkMeterTest, AFewBytesThatComeAtOnceSayNothing) {
  LinkMeter meter;
  meter.burst(20, 300, 20us);
  meter.came(200, 8192, 20us); // zeros, which a slow link brings as quickly
  EXPECT_EQ(meter.estimate().bytes_per_second, 0);
}

TEST(LinkMeterTest, ASerialLineIsBelievedUntilSomethingIsMeasured) {
  LinkMeter meter;
  meter.expect_rate(5760);
  meter.came(8192, 4096, 20us); // a buffer on the way
  EXPECT_DOUBLE_EQ(meter.estimate().bytes_per_second, 5760);
  meter.burst(1, 4096, 800ms);
  EXPECT_THAT(meter.estimate().bytes_per_second, DoubleNear(5120, 1));
}

} // namespace
} // namespace mqbridge::rsp
