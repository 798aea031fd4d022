#include "host/cli/terminal/progress.h"
#include "rsp/unique_fd.h"

#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<TargetSpec> targets(int count) {
  std::vector<TargetSpec> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(TargetSpec::parse(fmt::format("node{}:7001", i)).value());
    all.back().rank = i;
  }
  return all;
}

/// Stands for stderr: what is written there goes to a descriptor of the test.
class StandardError {
public:
  explicit StandardError(int descriptor) : kept_(::dup(STDERR_FILENO)) {
    ::dup2(descriptor, STDERR_FILENO);
  }
  ~StandardError() { ::dup2(kept_.get(), STDERR_FILENO); }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

private:
  rsp::UniqueFd kept_;
};

class Pipe {
public:
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader_ = rsp::UniqueFd(ends[0]);
    writer_ = rsp::UniqueFd(ends[1]);
  }
  int writer() const { return writer_.get(); }
  /// What has been written by now.
  std::string text() const { return read_all(reader_.get()); }

  static std::string read_all(int descriptor) {
    std::string all;
    std::array<char, 4096> bytes{};
    pollfd input{descriptor, POLLIN, 0};
    while (::poll(&input, 1, 0) == 1) {
      const auto count = ::read(descriptor, bytes.data(), bytes.size());
      if (count <= 0)
        break;
      all.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

private:
  rsp::UniqueFd reader_;
  rsp::UniqueFd writer_;
};

/// A terminal that nobody reads but the test.
class Screen {
public:
  explicit Screen(unsigned short columns) : controller_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    std::array<char, 64> name{};
    EXPECT_EQ(::grantpt(controller_.get()), 0);
    EXPECT_EQ(::unlockpt(controller_.get()), 0);
    EXPECT_EQ(::ptsname_r(controller_.get(), name.data(), name.size()), 0);
    terminal_ = rsp::UniqueFd(::open(name.data(), O_RDWR | O_NOCTTY));
    const winsize size{.ws_row = 25, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::ioctl(terminal_.get(), TIOCSWINSZ, &size), 0);
  }
  int descriptor() const { return terminal_.get(); }
  std::string text() const { return Pipe::read_all(controller_.get()); }

private:
  rsp::UniqueFd controller_;
  rsp::UniqueFd terminal_;
};

/// The next call is shown.
void wait_until_due() {
  std::this_thread::sleep_for(105ms);
}

TEST(Progress, CountsWhatWasReachedIsDoneAndFailed) {
  const auto all = targets(3);
  const Pipe pipe;
  {
    const StandardError replaced(pipe.writer());
    Progress progress(true, all);
    progress.report(0, "connect", 0);
    progress.report(1, "connect", 0); // too soon to be shown
    progress.report(0, "attach", 0);
    progress.ended(0, RankStatus::ok);
    wait_until_due();
    progress.report(1, "attach", 0);
    progress.report(2, "connect", 0);
    progress.ended(2, RankStatus::failed);
    progress.ended(1, RankStatus::partial); // the last one is shown whenever it comes
  }
  EXPECT_EQ(pipe.text(), "0 of 3 done, 0 reached; rank 0 (node0:7001): connect\n"
                         "1 of 3 done, 2 reached; rank 1 (node1:7001): attach\n"
                         "3 of 3 done (1 failed), 2 reached\n");
}

TEST(Progress, NamesTheTargetThatIsLongestInWhatItDoes) {
  const auto all = targets(40);
  const Pipe pipe;
  {
    const StandardError replaced(pipe.writer());
    Progress progress(true, all);
    progress.report(7, "walk", 10);
    std::this_thread::sleep_for(1050ms);
    for (std::size_t i = 10; i < 20; ++i)
      progress.report(i, "walk", 0);
    wait_until_due();
    progress.report(7, "walk", 2000);
  }
  const auto text = pipe.text();
  EXPECT_THAT(text, EndsWith("\n0 of 40 done, 11 reached; rank 7 (node7:7001): walk 1 s, 2000 "
                             "operations\n"));
}

TEST(Progress, OfOneTargetSaysWhatThatDoes) {
  const auto one = targets(1);
  const Pipe pipe;
  {
    const StandardError replaced(pipe.writer());
    Progress progress(true, one);
    progress.report(0, "images\x1b[2J", 0);
  }
  EXPECT_EQ(pipe.text(), "rank 0: images\\x1b[2J\n");
}

TEST(Progress, OnATerminalIsOneLineWithABar) {
  const auto all = targets(4);
  const Screen screen(100);
  const StandardError replaced(screen.descriptor());
  Progress progress(true, all);
  progress.ended(0, RankStatus::ok);
  EXPECT_EQ(screen.text(), "\r\033[K[=====               ] 1 of 4 done, 0 reached");
  wait_until_due();
  progress.ended(1, RankStatus::failed);
  EXPECT_EQ(screen.text(), "\r\033[K[==========          ] 2 of 4 done (1 failed), 0 reached");
  static_cast<void>(progress.pause());
  EXPECT_EQ(screen.text(), "\r\033[K") << "taken away for what is printed";
}

TEST(Progress, IsNeverWiderThanTheTerminal) {
  const auto all = targets(1000);
  const Screen screen(30);
  const StandardError replaced(screen.descriptor());
  Progress progress(true, all);
  progress.report(7, "walk", 0);
  EXPECT_EQ(screen.text(), "\r\033[K0 of 1000 done, 1 reached;...");
}

TEST(Progress, GoesOnForATargetThatIsSilent) {
  const auto all = targets(2);
  const Screen screen(100);
  const StandardError replaced(screen.descriptor());
  Progress progress(true, all);
  progress.report(1, "connect", 0);
  std::this_thread::sleep_for(1600ms);
  EXPECT_THAT(screen.text(), HasSubstr("rank 1 (node1:7001): connect 1 s"));
}

/// A target is held meanwhile.
TEST(Progress, WaitsForNobody) {
  const auto all = targets(2);
  const Pipe pipe; // nobody reads it
  ASSERT_EQ(::fcntl(pipe.writer(), F_SETPIPE_SZ, 4096), 4096);
  ASSERT_EQ(::write(pipe.writer(), std::string(4096, 'x').data(), 4096), 4096);
  const StandardError replaced(pipe.writer());
  Progress progress(true, all);
  const auto begin = std::chrono::steady_clock::now();
  progress.report(0, "attach", 0);
  progress.warn(0, {"stop.long", "long", "fix"});
  auto paused = progress.pause();
  ASSERT_TRUE(paused);
  wait_until_due();
  std::thread([&] {
    progress.report(0, "walk", 0);
    progress.warn(0, {"stop.long", "long", "fix"});
    EXPECT_FALSE(progress.pause()) << "what is printed is not held up for long";
  }).join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

TEST(Progress, NothingIsShownWhereItIsOff) {
  const auto all = targets(2);
  const Pipe pipe;
  {
    const StandardError replaced(pipe.writer());
    Progress progress(false, all);
    progress.report(0, "attach", 0);
    progress.ended(0, RankStatus::ok);
    progress.warn(1, {"stop.long", "it takes long", "wait"});
    progress.warn(0, {"stop.long", "the same again", "wait"});
  }
  EXPECT_EQ(pipe.text(), "mqbridge: stop.long: rank 1 (node1:7001): it takes long\nfix: wait\n");
}

} // namespace
} // namespace mqbridge::test
