#include "rsp/packet/stat_line.h"

#include <gtest/gtest.h>

namespace mqbridge::rsp {
namespace {

char state_of(std::string_view text) {
  const auto line = StatLine::parse(text);
  return line ? line->state() : '?';
}

TEST(StatLine, HasTheStateBehindTheName) {
  EXPECT_EQ(state_of("41822 (solver) S 1 41822 0"), 'S');
  EXPECT_EQ(state_of("41822 (solver) T 1 41822 0"), 'T');
  EXPECT_EQ(state_of("7 (a) R (b) t 1 7 0"), 't') << "a name with a parenthesis";
  EXPECT_EQ(state_of("7 (cut off here) D"), 'D');
}

TEST(StatLine, WhatIsNoSuchTextIsNone) {
  for (const char* text : {"", "41822", "41822 (solver", "41822 (solver) ", "41822 (solver) SS 1",
                           "41822 (solver) \x1b 1", "State: T (stopped)", ") S ("})
    EXPECT_FALSE(StatLine::parse(text)) << text;
}

TEST(StatLine, HasNumbersAtThePlacesThatProcHas) {
  const auto line = StatLine::parse("41822 (a) S (b) S 1 41823 -1 x 34816 7\n");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name(), "a) S (b");
  EXPECT_EQ(line->number(4), 1U);
  EXPECT_EQ(line->number(5), 41823U);
  EXPECT_EQ(line->number(6), std::nullopt) << "negative";
  EXPECT_EQ(line->number(7), std::nullopt);
  EXPECT_EQ(line->number(9), 7U);
  EXPECT_EQ(line->number(10), std::nullopt) << "behind the end";
  EXPECT_EQ(line->number(3), std::nullopt) << "the state is no number";
}

} // namespace
} // namespace mqbridge::rsp
