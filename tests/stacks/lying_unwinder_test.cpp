// What becomes of the stacks whose mqbridge-unwinder crashes, hangs or lies.

#include "host/confined/child_conversation.h"
#include "host/stacks/unwind.h"
#include "host/stacks/unwinder_wire.h"
#include "tests/support/faults_tried.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>
#include <thread>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

struct Lie {
  const char* name;
  const char* code;
  const char* message;
  std::size_t frames = 0; ///< that stay
};

void PrintTo(const Lie& lie, std::ostream* out) {
  *out << lie.name;
}

const Lie lies[] = {
    {"crashes", "stacks.crashed", "died of SIGSEGV"},
    {"prints", "stacks.crashed", "died of SIGABRT; it printed: heap is ?[31mbroken"},
    {"silent", "stacks.timeout", "took more than 0.3 seconds"},
    {"unknown_kind", "stacks.protocol", "improper message"},
    {"half_a_frame", "stacks.protocol", "improper message"},
    {"kept_by_no_frame", "stacks.protocol", "improper message"},
    {"kept_for_ever", "stacks.protocol", "improper message"},
    {"frames_for_ever", "stacks.protocol", "improper message"},
    {"nothing_for_ever", "stacks.timeout", "took more than 0.3 seconds"},
    {"end_of_an_unknown_kind", "stacks.protocol", "improper message"},
    {"asks_for_an_unknown_module", "stacks.protocol", "improper message"},
    {"asks_for_ever", "stacks.timeout", "took more than 0.3 seconds"},
    {"asks_and_never_listens", "stacks.protocol", "improper message"},
    {"crashes_over_names", "stacks.crashed", "ended (exit status 3)", 1},
    {"names_of_what_was_not_asked", "stacks.protocol", "improper message", 1},
    {"no_names", "stacks.protocol", "improper message", 1},
    {"line_before_the_first", "stacks.protocol", "improper message", 1},
    {"calls_for_ever", "stacks.protocol", "improper message", 1},
    {"a_name_of_gigabytes", "stacks.protocol", "improper message", 1},
};

/// This test, loaded at 0x400000.
std::vector<Image> loaded_images() {
  auto file = ElfFile::open("/proc/self/exe").value();
  const auto first = file->segments().front().address.value;
  return {{.target_path = "/bin/x", .bias = {0x400000 - first}, .file = std::move(file)}};
}

class LyingUnwinder : public testing::TestWithParam<Lie> {};
INSTANTIATE_TEST_SUITE_P(Lies, LyingUnwinder, testing::ValuesIn(lies),
                         [](const auto& lie) { return std::string(lie.param.name); });

/// Of a thread at 0x401000, in a process that has loaded this test.
CapturedStacks captured() {
  CapturedStacks stacks;
  CapturedThread thread;
  thread.thread.tid = 7;
  thread.thread.layout = RegisterLayout::kernel;
  thread.thread.registers.emplace(27 * 8, std::byte(0));
  stacks.threads.push_back(std::move(thread));
  return stacks;
}

std::string that_lies(const test::TempDirectory& directory, const std::string& how) {
  auto program = directory / how;
  fs::create_symlink(MQBRIDGE_LYING_UNWINDER, program);
  return program;
}

TEST_P(LyingUnwinder, CostsAWarningAndWhatWasUnwoundStays) {
  test::faults_tried(1);
  const auto& lie = GetParam();
  const test::TempDirectory directory;
  const auto images = loaded_images();
  UnwindOptions options;
  options.program = that_lies(directory, lie.name);
  options.patience = std::chrono::milliseconds(300);
  Warnings warnings;
  FrameNames names;
  options.names = &names;
  const auto threads = unwind(captured(), images, images[0].file->platform(), options, warnings);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_THAT(*threads, SizeIs(1));
  EXPECT_EQ(threads->at(0).stack.thread, 7);
  EXPECT_THAT(threads->at(0).stack.frames, SizeIs(lie.frames));
  EXPECT_THAT(threads->at(0).stack_pointers, SizeIs(lie.frames));
  for (const auto& frame : threads->at(0).stack.frames) {
    EXPECT_EQ(frame.function, std::nullopt);
    EXPECT_EQ(frame.module, "/bin/x");
    EXPECT_EQ(names.find({images[0].file->identity() + '\n', 0x400fff - images[0].bias.value}),
              std::nullopt);
  }
  EXPECT_EQ(threads->at(0).stack.end, lie.frames == 0 ? StackEnd::limit : StackEnd::outermost);
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].code, lie.code);
  EXPECT_THAT(warnings[0].message, HasSubstr(lie.message));
  EXPECT_THAT(warnings[0].message, HasSubstr("while it unwound the stacks"));
}

TEST(LyingUnwinderOfOneThread, FillsNoMemory) {
  test::faults_tried(2);
  const test::TempDirectory directory;
  const auto images = loaded_images();
  UnwindOptions options;
  options.max_frames = 40'000;
  options.program = that_lies(directory, "calls_without_names");
  Warnings warnings;
  auto threads = unwind(captured(), images, images[0].file->platform(), options, warnings);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].code, "stacks.protocol") << "more than 64 MiB";
  warnings.clear();
  options.program = that_lies(directory, "deep_with_a_long_name");
  threads = unwind(captured(), images, images[0].file->platform(), options, warnings);
  ASSERT_TRUE(threads && threads->size() == 1);
  EXPECT_THAT(warnings, SizeIs(0));
  EXPECT_EQ(threads->front().stack.end, StackEnd::limit);
  EXPECT_THAT(threads->front().stack.frames,
              SizeIs(testing::AllOf(testing::Gt(10'000), testing::Le(16 * 1024))))
      << "64 MiB of names of 4 KiB";
}

TEST(ChildConversation, EndsInTimeWhereAMessageIsAlwaysThere) {
  test::faults_tried(1);
  const test::TempDirectory directory;
  sandbox::Errand errand;
  errand.program = that_lies(directory, "talks_before_it_is_asked");
  errand.patience = std::chrono::milliseconds(50);
  errand.timeout = "stacks.timeout";
  auto child = sandbox::ChildConversation::start(errand);
  ASSERT_TRUE(child) << child.error().message;
  (*child)->begin_answer();
  std::this_thread::sleep_for(std::chrono::milliseconds(200)); // now the socket is full
  wire::UnwinderKind kind{};
  const auto answer = (*child)->receive(kind);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "stacks.timeout");
}

TEST(Unwinder, ThatCannotBeStartedIsNamed) {
  UnwindOptions options;
  options.program = "/nonexistent/mqbridge-unwinder";
  Warnings warnings;
  const auto threads =
      unwind(captured(), {}, Platform{.architecture = "x86_64"}, options, warnings);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "worker.start");
  EXPECT_THAT(threads.error().message, HasSubstr("/nonexistent/mqbridge-unwinder"));
}

} // namespace
} // namespace mqbridge
