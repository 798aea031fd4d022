#include "rsp/packet/trace.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

class TraceTest : public testing::Test {
protected:
  ~TraceTest() override { std::filesystem::remove(file_); }

  std::vector<std::string> lines() const {
    std::ifstream in(file_);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);)
      all.push_back(line);
    return all;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("mqbridge-trace-" + std::to_string(::getpid()));
};

TEST_F(TraceTest, OneReadableLineAPacketWrittenAtOnce) {
  auto trace = Trace::open(file_);
  ASSERT_TRUE(trace);
  (*trace)->packet("n1:7001", Trace::Direction::sent, "m1000,4");
  (*trace)->packet("n1:7001", Trace::Direction::received, std::string_view("b\0\n\\\xff", 5));
  (*trace)->phase("n1:7001", "walk");
  const auto all = lines(); // before it is closed: a killed program leaves a whole trace
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], testing::MatchesRegex(" *[0-9]+\\.[0-9]+ n1:7001 -> m1000,4"));
  EXPECT_THAT(all[1], testing::EndsWith("n1:7001 <- b\\x00\\x0a\\x5c\\xff"));
  EXPECT_THAT(all[2], testing::EndsWith("n1:7001 == walk"));
  EXPECT_TRUE((*trace)->close());
}

/// It shows what was in the memory of a process, which others may not look into.
TEST_F(TraceTest, IsForItsOwnerAlone) {
  ASSERT_TRUE(Trace::open(file_));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file_).permissions() & (perms::group_all | perms::others_all),
            perms::none);
}

TEST_F(TraceTest, IsForItsOwnerAloneWhereThereWasAFileBefore) {
  using std::filesystem::perms;
  std::ofstream(file_) << "of the last time\n";
  std::filesystem::permissions(file_, perms::owner_all | perms::group_read | perms::others_read);
  ASSERT_TRUE(Trace::open(file_));
  EXPECT_EQ(std::filesystem::status(file_).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_EQ(std::filesystem::file_size(file_), 0U);
}

TEST_F(TraceTest, LinesOfManyThreadsDoNotMix) {
  auto trace = Trace::open(file_);
  ASSERT_TRUE(trace);
  std::vector<std::thread> threads;
  for (const char name : {'a', 'b', 'c'})
    threads.emplace_back([&trace, name] {
      for (int i = 0; i < 200; ++i)
        (*trace)->packet("e", Trace::Direction::sent, std::string(100, name));
    });
  for (auto& thread : threads)
    thread.join();
  ASSERT_TRUE((*trace)->close());
  const auto all = lines();
  EXPECT_EQ(all.size(), 600U);
  EXPECT_THAT(all, testing::Each(testing::ContainsRegex("-> (a{100}|b{100}|c{100})$")));
}

TEST_F(TraceTest, PathThatCannotBeWritten) {
  const auto trace = Trace::open("/nonexistent/trace");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, "trace.write");
  EXPECT_THAT(trace.error().message, testing::HasSubstr("/nonexistent/trace"));
}

TEST_F(TraceTest, FullDiskIsToldWhenClosed) {
  auto trace = Trace::open("/dev/full");
  ASSERT_TRUE(trace);
  (*trace)->packet("e", Trace::Direction::sent, "?");
  const auto closed = (*trace)->close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, "trace.write");
  EXPECT_THAT(closed.error().message, testing::HasSubstr("space"));
}

} // namespace
} // namespace mqbridge::rsp
