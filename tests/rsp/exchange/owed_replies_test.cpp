// The counts and doubts of Pairing by themselves; pairing_test.cpp has them with stubs.

#include "rsp/exchange/pairing.h"

#include <gtest/gtest.h>
#include <string>

namespace mqbridge::rsp {
namespace {

TEST(OwedReplies, ThoseToWhatWasGivenUpComeFirst) {
  Pairing pairing;
  pairing.begin();
  EXPECT_TRUE(pairing.asked()) << "a round trip begins";
  EXPECT_FALSE(pairing.asked());
  EXPECT_TRUE(pairing.take());
  pairing.begin(); // one is still owed
  EXPECT_TRUE(pairing.owes_given_up());
  EXPECT_FALSE(pairing.asked());
  EXPECT_FALSE(pairing.take()) << "that of the exchange before";
  EXPECT_TRUE(pairing.take());
  EXPECT_FALSE(pairing.owes());
}

TEST(OwedReplies, AReplyWithoutItsAcknowledgementIsInDoubtWhereOthersHadOne) {
  Pairing pairing;
  pairing.acknowledged(false, false);
  EXPECT_FALSE(pairing.in_doubt()) << "a stub that never acknowledges";
  pairing.acknowledged(true, false);
  EXPECT_FALSE(pairing.in_doubt());
  pairing.acknowledged(false, false);
  EXPECT_TRUE(pairing.in_doubt());
  pairing.begin();
  EXPECT_FALSE(pairing.in_doubt()) << "it is the exchange that was in doubt";
}

TEST(OwedReplies, MoreBehindAReplyIsInDoubt) {
  Pairing pairing;
  pairing.acknowledged(true, true);
  EXPECT_TRUE(pairing.in_doubt());
}

TEST(OwedReplies, OutOfStepLastsUntilTheStubIsBack) {
  Pairing pairing;
  EXPECT_TRUE(pairing.asked());
  pairing.lost_step();
  pairing.begin();
  EXPECT_TRUE(pairing.in_doubt());
  pairing.in_step();
  EXPECT_FALSE(pairing.in_doubt());
  EXPECT_FALSE(pairing.owes());
}

TEST(OwedReplies, ACheckThatPassedCountsUntilTheNextExchange) {
  Pairing pairing;
  StepCheck check(false);
  std::string question;
  ASSERT_TRUE(check.next(question));
  ASSERT_TRUE(check.take(""));
  pairing.passed(check);
  EXPECT_TRUE(pairing.confirmed());
  EXPECT_TRUE(pairing.mute());
  pairing.begin();
  EXPECT_FALSE(pairing.confirmed());
  EXPECT_TRUE(pairing.mute());
}

} // namespace
} // namespace mqbridge::rsp
