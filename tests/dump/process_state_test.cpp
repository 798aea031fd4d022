#include "host/dump/process_state.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace mqbridge {
namespace {

TEST(ProcessState, IsTheLetterBehindTheName) {
  EXPECT_EQ(parse_process_state("41822 (solver) S 1 41822 0"), "S");
  EXPECT_EQ(parse_process_state("41822 (solver) T 1 41822 0"), "T");
  EXPECT_EQ(parse_process_state("7 (a) R (b) t 1 7 0"), "t") << "a name with a parenthesis";
  EXPECT_EQ(parse_process_state("7 (cut off here) D"), "D");
}

TEST(ProcessState, WhatIsNoSuchTextSaysNothing) {
  for (const char* text : {"", "41822", "41822 (solver", "41822 (solver) ", "41822 (solver) SS 1",
                           "41822 (solver) \x1b 1", "State: T (stopped)"})
    EXPECT_EQ(parse_process_state(text), std::nullopt) << text;
}

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
