// Call stacks of other platforms' programs, from cores that QEMU wrote. What they must be, the
// programs said themselves.

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

/// The C library of arm has no call frame information, but .ARM.exidx, which libdw does not read.
TEST(StacksOfArm, EndInTheLibraryAndSaySo) {
  const StackPlatform arm = {"arm", "arm-linux-gnueabihf", "qemu-arm-static"};
  MQBRIDGE_SKIP_IF_LACKING(lacking(arm));
  Warnings warnings;
  const auto threads = subject_of(arm, "-static").unwind(unwind_options(), warnings);
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].stack.end, StackEnd::no_cfi);
  ASSERT_EQ(threads[0].stack.frames.size(), 1U);
  EXPECT_TRUE(threads[0].stack.frames[0].function);
}

TEST(StacksOfMips, HaveTheirInnermostFrameAndAWarning) {
  const StackPlatform mips = {"mips", "mips-linux-gnu", "qemu-mips-static"};
  MQBRIDGE_SKIP_IF_LACKING(lacking(mips));
  Warnings warnings;
  const auto threads = subject_of(mips, "-static").unwind(unwind_options(), warnings);
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].stack.end, StackEnd::no_cfi);
  ASSERT_EQ(threads[0].stack.frames.size(), 1U);
  EXPECT_TRUE(threads[0].stack.frames[0].function);
  EXPECT_TRUE(std::ranges::any_of(
      warnings, [](const Error& warning) { return warning.code == "stacks.platform"; }));
}

} // namespace
} // namespace mqbridge::test
