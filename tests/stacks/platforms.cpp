#include "tests/stacks/platforms.h"

#include "host/process/live/live_process.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/support/connected.h"
#include "tests/support/real_stub.h"

#include <fmt/format.h>
#include <ostream>

namespace mqbridge::test {

namespace {

SubjectBuild build_of(const StackPlatform& platform, const std::string& linkage) {
  const auto sysroot = "/usr/" + platform.triplet;
  SubjectBuild build;
  build.compiler = {platform.triplet + "-gcc", "-g", "-O2", linkage};
  build.emulator = {platform.emulator, "-L", sysroot};
  build.sysroots = {sysroot, "/"};
  return build;
}

void expect_keepers(const UnwoundThread& thread) {
  EXPECT_EQ(keepers(thread, 0x1badcafe), std::vector<std::string>{"die"});
  EXPECT_EQ(keepers(thread, 0x2badcafe), std::vector<std::string>{"outer"});
}

/// A process that stands still at the signal that would end it.
void expect_live_stack(const StackPlatform& platform, const std::string& linkage) {
  const TempDirectory directory;
  const auto build = build_of(platform, linkage);
  const std::string program = directory / "subject";
  compile(build, program);
  auto command = build.emulator;
  command.insert(command.end(), {"-g", "{socket}", program, "plain"});
  const RealStub stub(command);
  const auto client = connected(stub.endpoint());
  ASSERT_TRUE(client);
  auto attachment = rsp::attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  const auto run = rsp::run_until(*client, {rsp::parse_signal("ABRT")}, *attachment);
  ASSERT_TRUE(run) << run.error().message;
  ElfCache files(FilePaths{{build.sysroots.begin(), build.sysroots.end()}});
  Warnings warnings;
  const auto threads = unwind_process(std::make_unique<LiveProcess>(*client, *attachment), files,
                                      unwind_options(), warnings);
  const auto said = places_in(stub.out());
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(own(places(threads[0].stack), said), said) << linkage;
  EXPECT_EQ(said.size(), 6U);
  EXPECT_EQ(threads[0].stack.end, StackEnd::outermost) << linkage;
  expect_keepers(threads[0]);
  for (const auto& warning : warnings)
    ADD_FAILURE() << warning.code << ": " << warning.message;
}

} // namespace

std::string lacking(const StackPlatform& platform) {
  const auto compiler =
      lacking_program(platform.triplet + "-gcc", fmt::format("gcc-{}", platform.triplet));
  return compiler.empty() ? lacking_program(platform.emulator, "qemu-user-static") : compiler;
}

CoreSubject subject_of(const StackPlatform& platform, const std::string& linkage) {
  return {build_of(platform, linkage), "plain"};
}

std::string name_of(const testing::TestParamInfo<StackPlatform>& of) {
  return of.param.name;
}

void PrintTo(const StackPlatform& platform, std::ostream* out) {
  *out << platform.name;
}

// Another program instantiates the other one.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StacksOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LiveStacksOf);

TEST_P(StacksOf, AreThoseOfTheProgram) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  for (const char* linkage : {"-static", "-no-pie"}) {
    const auto subject = subject_of(GetParam(), linkage);
    Warnings warnings;
    const auto threads = subject.unwind(unwind_options(), warnings);
    ASSERT_EQ(threads.size(), 1U);
    EXPECT_EQ(own(places(threads[0].stack), subject.said()), subject.said()) << linkage;
    EXPECT_EQ(threads[0].stack.end, StackEnd::outermost) << linkage;
    expect_keepers(threads[0]);
    for (const auto& warning : warnings)
      EXPECT_EQ(warning.code, "image.unproven") << warning.message; // QEMU's cores have no build-id
  }
}

TEST_P(StacksOf, AreThoseOfTheLiveProgram) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  for (const char* linkage : {"-static", "-no-pie"})
    expect_live_stack(GetParam(), linkage);
}

TEST_P(LiveStacksOf, AreThoseOfTheLiveProgram) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  expect_live_stack(GetParam(), "-static");
}

} // namespace mqbridge::test
