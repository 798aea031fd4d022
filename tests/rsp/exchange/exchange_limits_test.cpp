#include "rsp/exchange/exchange_limits.h"

#include <chrono>
#include <gtest/gtest.h>
#include <optional>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using Passed = ExchangeLimits::Passed;
using Clock = ExchangeLimits::Clock;

class ExchangeLimitsTest : public testing::Test {
protected:
  static constexpr auto silence = 10s;

  ExchangeLimits limits{silence};
  ReplyWait wait{"m0,1", silence};
  Clock::time_point now = wait.begun;

  /// What has passed; nullopt: nothing.
  std::optional<Passed> passed() const {
    const auto next = limits.next(wait, now);
    return next ? std::nullopt : std::optional(next.error());
  }
  Clock::duration left() const { return limits.next(wait, now).value() - now; }
};

TEST_F(ExchangeLimitsTest, SilenceIsCountedFromTheLastByte) {
  EXPECT_EQ(left(), 10s);
  now += 9s;
  EXPECT_EQ(left(), 1s);
  wait.last_byte = now;
  EXPECT_EQ(left(), 10s);
  now += 10s;
  EXPECT_EQ(passed(), Passed::silence);
}

TEST_F(ExchangeLimitsTest, AReplyByteByByteEndsAfterSixSilences) {
  now = wait.last_byte = wait.begun + 59s;
  EXPECT_EQ(left(), 1s);
  now += 1s;
  EXPECT_EQ(passed(), Passed::silence);
}

TEST_F(ExchangeLimitsTest, TheDeadlineComesBeforeTheSilence) {
  limits.set_deadline(now + 3s);
  EXPECT_EQ(left(), 3s);
  EXPECT_EQ(limits.time_left(now), 3s);
  now += 3s;
  EXPECT_EQ(passed(), Passed::deadline);
  limits.set_deadline(std::nullopt);
  EXPECT_EQ(left(), 7s);
  EXPECT_EQ(limits.time_left(now), std::nullopt);
}

TEST_F(ExchangeLimitsTest, CancellingComesBeforeAll) {
  limits.set_deadline(now);
  limits.cancel();
  EXPECT_EQ(passed(), Passed::cancelled);
}

TEST_F(ExchangeLimitsTest, AnExemptionHasALimitOfItsOwnAndEnds) {
  limits.set_deadline(now);
  limits.cancel();
  {
    const auto exemption = limits.exempt(now + 2s);
    EXPECT_EQ(left(), 2s);
    EXPECT_EQ(limits.time_left(now), std::nullopt);
    now += 2s;
    EXPECT_EQ(passed(), Passed::silence);
  }
  EXPECT_EQ(passed(), Passed::cancelled);
}

TEST_F(ExchangeLimitsTest, WhileTheTargetRunsOnlyCancellingCounts) {
  limits.set_deadline(now);
  wait.unlimited = true;
  now += 24h;
  EXPECT_GT(left(), 1min);
  limits.cancel();
  EXPECT_EQ(passed(), Passed::cancelled);
}

} // namespace
} // namespace mqbridge::rsp
