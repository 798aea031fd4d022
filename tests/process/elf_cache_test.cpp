// Files on a slow file system, and several ranks that want them. open(2) is that of slow_open.c.

#include "host/disk/work_budget.h"
#include "host/process/elf_cache.h"
#include "tests/builders/elf_builder.h"

#include <chrono>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::HasSubstr;

class SlowFile : public testing::Test {
protected:
  void SetUp() override { ::setenv("SLOW_OPEN", "600 /slow", 1); }
  void TearDown() override { ::unsetenv("SLOW_OPEN"); }

  /// The error's code; empty: there is the file.
  std::string open(const std::filesystem::path& path,
                   std::optional<std::chrono::milliseconds> time = std::nullopt) {
    WorkBudget budget;
    if (time)
      budget.deadline = steady_clock::now() + *time;
    const WorkScope scope(std::move(budget));
    auto file = cache_.open(path);
    if (!file)
      message_ = file.error().message;
    return file ? "" : std::string(file.error().code);
  }
  std::filesystem::path write(std::string_view name) {
    return directory_.write(name, test::ElfBuilder(test::elf_shapes[0]).bytes());
  }

  test::TestDirectory directory_;
  ElfCache cache_{FilePaths{}};
  std::string message_;
};

TEST_F(SlowFile, IsWaitedForByThoseWhoWantItAloneAndNoLongerThanTheyMay) {
  const auto slow = write("slow");
  const auto fast = write("fast");
  std::string first = "not yet";
  std::jthread other([&] { first = SlowFile::open(slow); });
  std::this_thread::sleep_for(100ms);
  const auto begun = steady_clock::now();
  EXPECT_EQ(open(fast), "");
  EXPECT_LT(steady_clock::now() - begun, 300ms) << "it waits for no other file";
  EXPECT_EQ(open(slow, 100ms), "stop.limit");
  EXPECT_LT(steady_clock::now() - begun, 450ms);
  EXPECT_EQ(open(slow), "");
  other.join();
  EXPECT_EQ(first, "");
  EXPECT_LT(steady_clock::now() - begun, 1000ms) << "it was opened once";
}

TEST_F(SlowFile, ThatCostTheWholeTimeIsNamedAndKept) {
  const auto slow = write("slow");
  EXPECT_EQ(open(slow, 200ms), "stop.limit");
  EXPECT_THAT(message_, HasSubstr("to open " + slow.string() + " took 0.6 s"));
  const auto begun = steady_clock::now();
  EXPECT_EQ(open(slow, 200ms), "");
  EXPECT_LT(steady_clock::now() - begun, 200ms);
  EXPECT_EQ(open(write("fast"), 0ms), "stop.limit") << "nothing more is opened then";
}

/// Of a program that runs for long: the node's files may be replaced meanwhile.
TEST(ElfCache, LooksAgainAfterAWhile) {
  const test::TestDirectory directory;
  ElfCache cache({}, nullptr, {}, 50ms);
  const auto path = directory / "late";
  EXPECT_EQ(cache.open(path).error().code, "elf.open");
  directory.write("late", test::ElfBuilder(test::elf_shapes[0]).bytes());
  EXPECT_FALSE(cache.open(path)) << "what is missing is not looked for by each rank";
  std::this_thread::sleep_for(60ms);
  const auto first = cache.open(path);
  ASSERT_TRUE(first) << first.error().message;
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(cache.open(path).value(), *first) << "the same file keeps what was indexed of it";

  std::filesystem::remove(path);
  directory.write("late", test::ElfBuilder(test::elf_shapes[1]).bytes());
  std::this_thread::sleep_for(60ms);
  const auto second = cache.open(path);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)->platform().architecture, test::elf_shapes[1].architecture);
}

TEST(ElfCache, HasABound) {
  const test::TestDirectory directory;
  ElfCache cache(FilePaths{});
  const auto path = directory.write("first", test::ElfBuilder(test::elf_shapes[0]).bytes());
  const std::weak_ptr<const ElfFile> first = cache.open(path).value();
  EXPECT_FALSE(first.expired());
  for (std::size_t i = 0; i < ElfCache::most_files; ++i)
    EXPECT_FALSE(cache.open(directory / std::to_string(i)));
  EXPECT_TRUE(first.expired());
}

} // namespace
} // namespace mqbridge
