// Output on its way through the process that watches a command.

#include "tests/support/temp_directory.h"
#include "tests/watch/watcher.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

std::string random_bytes(std::size_t count) {
  std::mt19937_64 numbers(count);
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    const auto number = numbers();
    for (std::size_t byte = 0; byte < 8; ++byte)
      bytes[i + byte] = static_cast<char>(number >> (8 * byte));
  }
  return bytes;
}

void write_all(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

const WatchLimits relayed{.total = {}, .silence = 20s};

TEST(Relay, PassesAHundredMegabytesOnAsTheyAre) {
  const TempDirectory directory;
  const auto first = random_bytes(64'000'003);
  const auto second = random_bytes(36'000'001);
  write_all(directory / "1", first);
  write_all(directory / "2", second);
  Watcher watcher("cd " + directory.path().string() + "; cat 2 >&2 & cat 1; wait", relayed);
  ASSERT_EQ(watcher.finish(30s), 0);
  EXPECT_TRUE(watcher.out() == first); // not EXPECT_EQ, which would print them
  EXPECT_TRUE(watcher.err() == second);
}

// Two streams that are one file here: `2>&1`.
TEST(Relay, KeepsTheOrderOfTwoStreamsThatAreOneFile) {
  Watcher watcher([] {
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    auto command = WatchedCommand::start(
        {"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"}, relayed);
    return command && (*command)->wait() == WatchEnd::ended ? *(*command)->exit_status() : 97;
  });
  EXPECT_EQ(watcher.finish(), 0);
  EXPECT_EQ(watcher.out(),
            "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\no6\ne6\no7\ne7\no8\ne8\no9\ne9\n");
}

/// The watched command writes to a pipe, of which this end is read by the test.
struct PipedWatcher {
  explicit PipedWatcher(const std::string& script, const WatchLimits& limits) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    reading = ends[0];
    watcher.emplace([&] {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[1]); // nobody else keeps it open
      ::close(ends[0]);
      auto command = WatchedCommand::start({"sh", "-c", script}, limits);
      if (!command)
        return 97;
      const auto end = (*command)->wait();
      return end == WatchEnd::ended ? *(*command)->exit_status() : 125;
    });
    ::close(ends[1]);
  }
  ~PipedWatcher() { ::close(reading); }
  PipedWatcher(const PipedWatcher&) = delete;
  PipedWatcher& operator=(const PipedWatcher&) = delete;

  std::size_t read_all() const {
    char buffer[4096];
    std::size_t all = 0;
    for (ssize_t count = 0; (count = ::read(reading, buffer, sizeof buffer)) > 0;)
      all += static_cast<std::size_t>(count);
    return all;
  }

  int reading = -1;
  std::optional<Watcher> watcher;
};

TEST(Relay, OfAReaderThatIsSlowIsNoSilence) {
  const PipedWatcher piped("head -c 1000000 /dev/zero", {.total = {}, .silence = 200ms});
  std::this_thread::sleep_for(700ms);
  EXPECT_EQ(piped.read_all(), 1'000'000U);
  EXPECT_EQ(const_cast<PipedWatcher&>(piped).watcher->finish(), 0);
}

TEST(Relay, OfAReaderThatHasGoneEndsTheWriter) {
  PipedWatcher piped("yes", relayed);
  ::close(std::exchange(piped.reading, -1));
  EXPECT_EQ(piped.watcher->finish(), 128 + SIGPIPE);
}

// It has the pipe still open, and writes without end.
TEST(Relay, DoesNotWaitForWhatACommandHasLeftBehind) {
  PipedWatcher piped("(exec setsid yes) & sleep 0.1; exit 4", relayed);
  std::thread reader([&] { piped.read_all(); });
  EXPECT_EQ(piped.watcher->finish(), 4);
  reader.join();
}

} // namespace
} // namespace mqbridge::test
