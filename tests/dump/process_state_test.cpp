#include "host/dump/target/process_state.h"

#include <gtest/gtest.h>
#include <string>

namespace mqbridge {
namespace {

TEST(ProcessState, OnlyAStoppedOneIsWarnedOf) {
  const auto warning = stopped_process_warning("T", 41822);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->code, "target.stopped");
  EXPECT_NE(warning->hint.find("kill -CONT 41822"), std::string::npos);
  for (const char* state : {"R", "S", "D", "t", "Z"})
    EXPECT_FALSE(stopped_process_warning(state, 41822)) << state;
}

} // namespace
} // namespace mqbridge
