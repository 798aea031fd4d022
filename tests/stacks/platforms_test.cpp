// Call stacks of other platforms' programs, from cores that QEMU wrote. What they must be, the
// programs said themselves.

#include "host/stacks/unwind.h"
#include "tests/stacks/core_subject.h"
#include "tests/stacks/platforms.h"

namespace mqbridge::test {
namespace {

const StackPlatform platforms[] = {
    {"s390x", "s390x-linux-gnu", "qemu-s390x-static"},
    {"ppc", "powerpc-linux-gnu", "qemu-ppc-static"},
    {"m68k", "m68k-linux-gnu", "qemu-m68k-static"},
};
INSTANTIATE_TEST_SUITE_P(Platforms, StacksOf, testing::ValuesIn(platforms), name_of);

/// One thread, which has its innermost frame and no more.
void expect_innermost_alone(const std::vector<UnwoundThread>& threads) {
  EXPECT_EQ(threads.size(), 1U);
  for (const auto& thread : threads) {
    EXPECT_EQ(thread.stack.end, StackEnd::no_cfi);
    EXPECT_EQ(thread.stack.frames.size(), 1U);
    EXPECT_TRUE(!thread.stack.frames.empty() && thread.stack.frames[0].function);
  }
}

/// The C library of arm has no call frame information, but .ARM.exidx, which libdw does not read.
TEST(StacksOfArm, EndInTheLibraryAndSaySo) {
  const StackPlatform arm = {"arm", "arm-linux-gnueabihf", "qemu-arm-static"};
  MQBRIDGE_SKIP_IF_LACKING(lacking(arm));
  Warnings warnings;
  expect_innermost_alone(subject_of(arm, "-static").unwind(unwind_options(), warnings));
}

/// elfutils knows mips from 0.191 on (Debian 13).
TEST(StacksOfMips, AreWholeOrHaveTheirInnermostFrameAndAWarning) {
  const StackPlatform mips = {"mips", "mips-linux-gnu", "qemu-mips-static"};
  MQBRIDGE_SKIP_IF_LACKING(lacking(mips));
  Warnings warnings;
  const auto threads = subject_of(mips, "-static").unwind(unwind_options(), warnings);
  if (std::ranges::any_of(warnings,
                          [](const Error& each) { return each.code == "stacks.platform"; }))
    expect_innermost_alone(threads);
  else
    EXPECT_EQ(threads.at(0).stack.end, StackEnd::outermost);
}

TEST(StacksOfAlpha, HaveNoFramesAndAWarningThatSaysSo) {
  CapturedStacks captured;
  captured.threads.emplace_back();
  Warnings warnings;
  const auto threads = unwind(captured, {}, {.architecture = "alpha"}, unwind_options(), warnings);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 1U);
  EXPECT_TRUE(threads->front().stack.frames.empty());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front().code, "stacks.platform");
  EXPECT_EQ(warnings.front().message,
            "stacks have no frames: mqbridge does not know the registers of alpha");
}

} // namespace
} // namespace mqbridge::test
