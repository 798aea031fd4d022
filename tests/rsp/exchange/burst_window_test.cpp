#include "rsp/exchange/burst_measure.h"
#include "rsp/exchange/burst_window.h"

#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t piece = 8192;
constexpr std::size_t reply = 2 * piece;

std::string request(std::size_t index) {
  return fmt::format("m{:x},{:x}", 0x7f0000000000 + index * piece, piece);
}

/// Sends as much as may be sent; how many requests.
std::size_t fill(BurstWindow& window) {
  std::size_t count = 0;
  for (; window.open(); ++count)
    window.sent(request(count));
  return count;
}

/// A link that brings `rate` reply bytes a second: the window after it has sent everything for
/// `seconds` of it.
std::size_t window_on(double rate, double round_trip, double seconds) {
  BurstWindow window({});
  LinkMeter meter;
  const auto start = BurstMeasure::Time(1h);
  BurstMeasure measure(meter, start);
  fill(window);
  for (std::size_t answered = 1; static_cast<double>(answered * reply) < rate * seconds;
       ++answered) {
    const std::chrono::duration<double> since(static_cast<double>(answered * reply) / rate);
    const auto arrived = start + std::chrono::duration_cast<Transport::Clock::duration>(since);
    if (measure.drained(arrived, window.answered("").expected, 0))
      window.set_rate(meter.drain_rate(), round_trip);
    fill(window);
  }
  while (!window.empty())
    window.answered("");
  return fill(window) * reply;
}

TEST(BurstWindowTest, StartsWithWhatALongLinkHolds) {
  BurstWindow window({});
  const std::size_t owed = fill(window) * reply;
  EXPECT_GE(owed, (std::size_t{4} << 20) - reply);
  EXPECT_LE(owed, (std::size_t{4} << 20) + reply);
  EXPECT_FALSE(window.wants_more());
}

TEST(BurstWindowTest, ADeadlineFarAwayBoundsNothing) {
  BurstWindow window({});
  window.leave_within(3600, 0);
  EXPECT_GE(fill(window) * reply, (std::size_t{4} << 20) - reply);
}

/// Replies in hexadecimal: 100 MB of memory a second are 200 MB.
TEST(BurstWindowTest, HoldsTwiceTheLink) {
  EXPECT_GE(window_on(200e6, 0.010, 0.5), std::size_t{4'000'000} - reply);
  EXPECT_GE(window_on(200e6, 0.050, 0.5), std::size_t{15'000'000});
  EXPECT_LE(window_on(2000e6, 0.050, 0.5), (std::size_t{16} << 20) + reply);
}

TEST(BurstWindowTest, OwesNoMoreThanComesWithinASecond) {
  EXPECT_LE(window_on(500e3, 0.010, 4), 520'000U);
  EXPECT_LE(window_on(500e3, 5.0, 4), 520'000U);
}

TEST(BurstWindowTest, ASlowLinkIsKnownBeforehand) {
  BurstWindow window({.bytes_per_second = 11'520});
  EXPECT_EQ(fill(window), 1U);
}

TEST(BurstWindowTest, UnansweredRequestsFitTheSocket) {
  BurstWindow window({});
  std::size_t bytes = 0;
  for (std::size_t i = 0; window.open(); ++i) {
    const std::string tiny = fmt::format("m{:x},8", 0x7f0000000000 + i * 64);
    window.sent(tiny);
    bytes += tiny.size() + 4;
  }
  EXPECT_LE(bytes, min_send_buffer / 4 + 32);
}

TEST(BurstWindowTest, WantsMoreBeforeTheStubRunsDry) {
  BurstWindow window({});
  const std::size_t full = fill(window);
  for (std::size_t left = full; !window.wants_more(); --left)
    window.answered("");
  EXPECT_GT(fill(window), full / 5); // many in one send
  EXPECT_LT(fill(window), full / 3);
}

struct Asked {
  std::string request;
  std::size_t data;
};

TEST(BurstWindowTest, KnowsWhatARequestAsksFor) {
  for (const auto& [text, data] :
       {Asked{"m7f00,40", 0x40}, Asked{"x7f00,1000", 0x1000}, Asked{"vFile:pread:5,800,0", 0x800},
        Asked{"MultiMemRead:ranges:10,4,20,8,30,10;", 0x1c}, Asked{"qC", 0}, Asked{"m", 0},
        Asked{"m7f00", 0}, Asked{"MultiMemRead:ranges:", 0}, Asked{"MultiMemRead:ranges:1,", 0},
        Asked{"mffff,ffffffffffffffff", std::size_t{16} << 20}})
    EXPECT_EQ(data_asked_for(text), data) << text;
}

} // namespace
} // namespace mqbridge::rsp
