// What is held, without a guardian; guardian_test.cpp has what that one is told.

#include "rsp/exchange/holds.h"

#include <gmock/gmock.h>

namespace mqbridge::rsp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HoldsTest, OnePacketForEachProcess) {
  Holds holds{GuardianWatch()};
  for (const char* packet : {"D;1f", "D;2a", "D;1f"})
    holds.add_detach_packet(packet);
  EXPECT_THAT(holds.detach_packets(), ElementsAre("D;2a", "D;1f"));
  holds.drop_detach_packet("D;2a");
  EXPECT_THAT(holds.detach_packets(), ElementsAre("D;1f"));
  holds.forget();
  EXPECT_THAT(holds.detach_packets(), IsEmpty());
}

TEST(HoldsTest, AFarewellIsNewOnceAndAgainForWhoHasItsNameNext) {
  Holds holds{GuardianWatch()};
  holds.add_detach_packet("D;1f");
  EXPECT_TRUE(holds.begin_farewell("D;1f"));
  EXPECT_FALSE(holds.begin_farewell("D;1f"));
  EXPECT_TRUE(holds.begin_farewell("D;2a"));
  EXPECT_TRUE(holds.begin_farewell("D;1f"));
  holds.drop_detach_packet("D;1f"); // it has gone
  EXPECT_TRUE(holds.begin_farewell("D;1f"));
}

TEST(HoldsTest, HowToLeaveATargetIsForgottenWhenItRuns) {
  Holds holds{GuardianWatch()};
  holds.set_leave_packet("C0f");
  holds.about_to_run();
  EXPECT_FALSE(holds.running());
  holds.runs();
  EXPECT_TRUE(holds.running());
  EXPECT_EQ(holds.leave_packet(), "");
  holds.stopped();
  EXPECT_FALSE(holds.running());
}

TEST(HoldsTest, WithoutAGuardianNobodyTakesOver) {
  Holds holds{GuardianWatch()};
  holds.set_guardians_deadline(Holds::Clock::now());
  EXPECT_FALSE(holds.taken_over());
  EXPECT_FALSE(holds.was_late());
}

} // namespace
} // namespace mqbridge::rsp
