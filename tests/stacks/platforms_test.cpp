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

/// Of one thread, which has its innermost frame and no more; what was warned of.
Warnings expect_innermost_alone(const StackPlatform& platform) {
  Warnings warnings;
  const auto threads = subject_of(platform, "-static").unwind(unwind_options(), warnings);
  EXPECT_EQ(threads.size(), 1U);
  for (const auto& thread : threads) {
    EXPECT_EQ(thread.stack.end, StackEnd::no_cfi);
    EXPECT_EQ(thread.stack.frames.size(), 1U);
    EXPECT_TRUE(!thread.stack.frames.empty() && thread.stack.frames[0].function);
  }
  return warnings;
}

/// The C library of arm has no call frame information, but .ARM.exidx, which libdw does not read.
TEST(StacksOfArm, EndInTheLibraryAndSaySo) {
  const StackPlatform arm = {"arm", "arm-linux-gnueabihf", "qemu-arm-static"};
  MQBRIDGE_SKIP_IF_LACKING(lacking(arm));
  expect_innermost_alone(arm);
}

TEST(StacksOfMips, HaveTheirInnermostFrameAndAWarning) {
  const StackPlatform mips = {"mips", "mips-linux-gnu", "qemu-mips-static"};
  MQBRIDGE_SKIP_IF_LACKING(lacking(mips));
  const auto warnings = expect_innermost_alone(mips);
  EXPECT_TRUE(std::ranges::any_of(
      warnings, [](const Error& warning) { return warning.code == "stacks.platform"; }));
}

} // namespace
} // namespace mqbridge::test
