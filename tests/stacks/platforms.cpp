#include "tests/stacks/platforms.h"

#include "tests/support/real_stub.h"

#include <fmt/format.h>

namespace mqbridge::test {

std::string lacking(const StackPlatform& platform) {
  const auto compiler =
      lacking_program(platform.triplet + "-gcc", fmt::format("gcc-{}", platform.triplet));
  return compiler.empty() ? lacking_program(platform.emulator, "qemu-user-static") : compiler;
}

CoreSubject subject_of(const StackPlatform& platform, const std::string& linkage) {
  const auto sysroot = "/usr/" + platform.triplet;
  SubjectBuild build;
  build.compiler = {platform.triplet + "-gcc", "-g", "-O2", linkage};
  build.emulator = {platform.emulator, "-L", sysroot};
  build.sysroots = {sysroot};
  return {build, "plain"};
}

std::string name_of(const testing::TestParamInfo<StackPlatform>& of) {
  return of.param.name;
}

TEST_P(StacksOf, AreThoseOfTheProgram) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  for (const char* linkage : {"-static", "-no-pie"}) {
    const auto subject = subject_of(GetParam(), linkage);
    Warnings warnings;
    const auto threads = subject.unwind(unwind_options(), warnings);
    ASSERT_EQ(threads.size(), 1U);
    EXPECT_EQ(own(places(threads[0].stack), subject.said()), subject.said()) << linkage;
    EXPECT_EQ(threads[0].stack.end, StackEnd::outermost) << linkage;
    for (const auto& warning : warnings)
      EXPECT_EQ(warning.code, "image.unproven") << warning.message; // QEMU's cores have no build-id
  }
}

} // namespace mqbridge::test
