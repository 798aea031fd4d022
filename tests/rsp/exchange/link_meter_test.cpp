#include "rsp/exchange/link_meter.h"

#include <chrono>
#include <gmock/gmock.h>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::DoubleNear;
using Duration = LinkMeter::Duration;

/// A meter of a link with a round trip that it knows.
class LinkMeterTest : public testing::Test {
protected:
  static constexpr Duration round_trip = 10ms;

  void SetUp() override { meter.round_trip(round_trip); }
  /// Pipelined, all of it `beyond` a round trip.
  void read(std::size_t requests, std::size_t bytes, std::size_t received, Duration beyond) {
    meter.exchanged({LinkMeter::Manner::pipelined, requests, bytes, received, round_trip + beyond});
  }
  /// No memory is in it.
  void receive(std::size_t received, Duration beyond) { read(1, 0, received, beyond); }
  double rate() const { return meter.estimate().bytes_per_second; }

  LinkMeter meter;
};

TEST_F(LinkMeterTest, NothingIsKnownAtFirst) {
  const LinkEstimate estimate = LinkMeter().estimate();
  EXPECT_EQ(estimate.round_trip, 0);
  EXPECT_EQ(estimate.bytes_per_second, 0);
  EXPECT_EQ(estimate.per_request, 0);
}

TEST_F(LinkMeterTest, TheRoundTripIsTheShortestOfTheLast) {
  for (const auto time : {12ms, 8ms, 30ms})
    meter.round_trip(time);
  EXPECT_DOUBLE_EQ(meter.estimate().round_trip, 0.008);
  for (int i = 0; i < 16; ++i)
    meter.round_trip(20ms);
  EXPECT_DOUBLE_EQ(meter.estimate().round_trip, 0.020);
}

TEST_F(LinkMeterTest, ALongReplyThatIsSoonerThanShortOnesShortensTheRoundTrip) {
  read(1, 4096, 8192, -3ms);
  EXPECT_DOUBLE_EQ(meter.estimate().round_trip, 0.007);
}

TEST_F(LinkMeterTest, RequestsAndBytesAreToldApart) {
  constexpr double per_request = 20e-6;
  constexpr double per_byte = 1e-8;
  for (const auto& [requests, bytes] :
       {std::pair(44, 400'000), std::pair(200, 4'000), std::pair(111, 1'000'000)})
    read(static_cast<std::size_t>(requests), static_cast<std::size_t>(bytes),
         static_cast<std::size_t>(2 * bytes),
         std::chrono::duration_cast<Duration>(
             std::chrono::duration<double>(requests * per_request + bytes * per_byte)));
  EXPECT_THAT(meter.estimate().per_request, DoubleNear(per_request, 1e-7));
  const double in_bulk = 400'000 / (44 * per_request + 400'000 * per_byte);
  EXPECT_THAT(rate(), DoubleNear(in_bulk, 1)) << "with the requests that it takes";
}

// Who reads page by page has nothing longer to measure.
TEST_F(LinkMeterTest, APageThatComesAtOnceSaysHowFastTheLinkIsAtLeast) {
  read(1, 4096, 8192, 20us);
  EXPECT_DOUBLE_EQ(rate(), 4096 / 200e-6);
}

TEST_F(LinkMeterTest, WhereLittleWasReadOtherRepliesTellHowFastItMightBe) {
  receive(64'000, 2ms); // 16 MB/s as digits
  EXPECT_DOUBLE_EQ(rate(), 16e6);
  read(68, 70'000, 103'000, 70ms); // all started at once
  EXPECT_DOUBLE_EQ(rate(), 16e6);
  for (int i = 0; i < 4; ++i)
    read(1, 65'536, 131'072, 32768us); // a slow stub behind a fast link
  EXPECT_NEAR(rate(), 2e6, 1e4);
}

// Sixteen stubs on two processors: most of what is measured is what the others took.
TEST_F(LinkMeterTest, StallsDoNotMakeALinkSlow) {
  read(40, 327'680, 655'360, 4ms);
  const double known = rate();
  for (const auto stall : {12ms, 30ms, 4ms, 17ms, 9ms})
    read(1, 4096, 8192, stall);
  EXPECT_DOUBLE_EQ(rate(), known);
  read(1, 4096, 8192, 0us);
  for (const auto stall : {12ms, 30ms, 4ms, 17ms, 9ms})
    read(1, 4096, 8192, stall);
  EXPECT_DOUBLE_EQ(rate(), 4096 / 200e-6);
}

TEST_F(LinkMeterTest, ALinkThatBecameSlowIsKnownToBe) {
  read(40, 327'680, 655'360, 4ms);
  for (int i = 0; i < 8; ++i)
    read(10, 81'920, 163'840, 400ms);
  EXPECT_THAT(rate(), DoubleNear(204'800, 1));
}

// As many zeros as one likes fit through a narrow link; what comes next may be something else.
TEST_F(LinkMeterTest, OfASlowLinkNoMoreIsExpectedThanItCarries) {
  read(32, 256 * 1024, 5'000, 40ms);
  EXPECT_THAT(rate(), DoubleNear(125e3, 1));
}

TEST_F(LinkMeterTest, OfAFastLinkZerosAreExpected) {
  read(32, 256 * 1024, 5'000, 1ms);
  EXPECT_THAT(rate(), DoubleNear(256 * 1024 / 1e-3, 1e3));
}

TEST_F(LinkMeterTest, AFewBytesThatComeAtOnceSayNothing) {
  read(20, 300, 20, 20us);
  read(1, 4096, 200, 20us); // zeros, which a slow link brings as quickly
  EXPECT_EQ(rate(), 0);
}

TEST_F(LinkMeterTest, ARequestThatWaitsForTheOneBeforeCostsARoundTrip) {
  meter.exchanged({LinkMeter::Manner::in_turn, 1, 4096, 8192, round_trip});
  meter.exchanged({LinkMeter::Manner::in_turn, 3, 12'288, 24'576, 3 * round_trip});
  EXPECT_THAT(rate(), DoubleNear(12'288 / 20e-3, 1));
  meter.exchanged({LinkMeter::Manner::in_turn, 11, 88, 300, 11 * round_trip});
  EXPECT_THAT(meter.estimate().per_request, DoubleNear(100e-3 / 11, 1e-4));
}

TEST_F(LinkMeterTest, ASerialLineIsBelievedUntilSomethingIsMeasured) {
  meter.expect_rate(5760);
  receive(8192, 20us); // a buffer on the way
  read(1, 4096, 8192, 20us);
  EXPECT_DOUBLE_EQ(rate(), 5760);
  read(1, 4096, 8192, 800ms);
  EXPECT_THAT(rate(), DoubleNear(5120, 1));
}

TEST_F(LinkMeterTest, ASerialLineIsNotFastBecauseZerosAreShort) {
  meter.expect_rate(5760);
  receive(8192, 800ms);
  read(1, 4096, 340, 30ms);
  EXPECT_DOUBLE_EQ(rate(), 8192 / 0.8);
}

TEST_F(LinkMeterTest, WhatComesInALongBurstSaysHowMuchMayBeOwed) {
  meter.came(16'384, 1ms);
  EXPECT_EQ(meter.arrival_rate(), 0) << "too little to tell";
  meter.came(65'536, 64ms);
  EXPECT_DOUBLE_EQ(meter.arrival_rate(), 1'024'000);
  meter.came(65'536, 128ms);
  EXPECT_DOUBLE_EQ(meter.arrival_rate(), 512'000) << "the last burst, not the best one";
}

// Zeros are short on the link, but the stub has read them all the same.
TEST_F(LinkMeterTest, HowFastAStubDrainsItsRequestsIsNotHowManyBytesCome) {
  EXPECT_FALSE(meter.drained(131'072, 10ms)) << "too little to tell";
  EXPECT_FALSE(meter.drained(524'288, 100us)) << "too soon to tell";
  EXPECT_EQ(meter.drain_rate(), 0U);
  meter.came(32'768, 10ms);
  EXPECT_TRUE(meter.drained(524'288, 10ms));
  EXPECT_EQ(meter.drain_rate(), 52'428'800U);
  EXPECT_LT(meter.arrival_rate(), 4e6);
}

} // namespace
} // namespace mqbridge::rsp
