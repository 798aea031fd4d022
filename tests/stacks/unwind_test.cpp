// Call stacks of real programs. What they must be, gdb says of the same core, and the program said
// itself before it ended.

#include "tests/stacks/core_subject.h"
#include "tests/support/core_files.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using test::CoreSubject;
using test::own;
using test::places;
using test::SubjectBuild;

SubjectBuild native(std::vector<std::string> options) {
  SubjectBuild build;
  build.compiler.insert(build.compiler.end(), options.begin(), options.end());
  return build;
}

class NativeStacks : public testing::Test {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores()); }
};

TEST_F(NativeStacks, AreThoseOfTheProgramAndOfGdb) {
  for (const char* pointers : {"-fomit-frame-pointer", "-fno-omit-frame-pointer"}) {
    const CoreSubject subject(native({"-g", "-O2", pointers}), "plain");
    const auto threads = subject.unwind();
    ASSERT_EQ(threads.size(), 1U);
    const auto found = places(threads[0].stack);
    EXPECT_EQ(own(found, subject.said()), subject.said());
    EXPECT_EQ(own(found, subject.said()), own(subject.gdb(), subject.said()));
    EXPECT_EQ(threads[0].stack.end, StackEnd::outermost);
    EXPECT_EQ(threads[0].stack.frames.back().function, "_start");
  }
}

} // namespace
} // namespace mqbridge
