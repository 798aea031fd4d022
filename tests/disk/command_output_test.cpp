#include "host/disk/command_output.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

TEST(RunCommand, GivesOutputAndStatus) {
  const auto ran = run_command({"sh", "-c", "echo out; echo err >&2; cat; exit 3"}, 10s);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->text, "out\nerr\n") << "stdin is empty";
  EXPECT_EQ(ran->exit_status, 3);
}

TEST(RunCommand, ArgumentsPassThroughNoShell) {
  const auto ran = run_command({"printf", "%s|", "a b", "$HOME", ";"}, 10s);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->text, "a b|$HOME|;|");
}

TEST(RunCommand, ASignalIsAStatus) {
  const auto ran = run_command({"sh", "-c", "kill -TERM $$"}, 10s);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_status, 128 + 15);
}

TEST(RunCommand, LongOutputIsCutAndTheProgramStillEnds) {
  const auto ran = run_command({"head", "-c", "3000000", "/dev/zero"}, 30s);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->text.size(), 256U << 10);
  EXPECT_EQ(ran->exit_status, 0);
}

TEST(RunCommand, AProgramThatDoesNotEndIsKilledWithItsChildren) {
  const auto started = std::chrono::steady_clock::now();
  const auto ran = run_command({"sh", "-c", "sleep 600 & sleep 600"}, 200ms);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, "command.timeout");
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
}

TEST(RunCommand, AProgramThatClosesItsOutputAndLivesOnIsKilled) {
  const auto started = std::chrono::steady_clock::now();
  const auto ran = run_command({"sh", "-c", "exec >&- 2>&-; sleep 600"}, 200ms);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, "command.timeout");
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
}

TEST(RunCommand, WhatCannotBeStartedIsNamed) {
  const auto ran = run_command({"no-such-program-of-mqbridge", "x"}, 1s);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, "command.start");
  EXPECT_THAT(ran.error().message, testing::HasSubstr("no-such-program-of-mqbridge"));
  EXPECT_EQ(run_command({}, 1s).error().code, "command.start");
}

} // namespace
} // namespace mqbridge
