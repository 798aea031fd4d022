// A real debuginfod that serves a directory; and servers that are down, or say nothing.

#include "host/disk/command_output.h"
#include "host/elf/elf_file.h"
#include "host/files/debuginfod.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"
#include "tests/support/stub_listener.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::HasSubstr;
using Kind = Debuginfod::Kind;

constexpr auto soon = 20s; ///< on a busy machine; what would wait for ever waits 60 s here
constexpr const char* unknown_build = "00112233445566778899aabbccddeeff00112233";

void run(const std::vector<std::string>& command) {
  const auto ran = run_command(command, 60s);
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_EQ(ran->exit_status, 0) << ran->text;
}

class DebuginfodTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("DEBUGINFOD_CACHE_PATH", (directory_ / "client").c_str(), 1);
    ::unsetenv("DEBUGINFOD_TIMEOUT");
  }
  /// A question that was given up ends by itself, here because its server is gone.
  void TearDown() override {
    EXPECT_TRUE(test::eventually(
        20s, [] { return std::distance(fs::directory_iterator("/proc/self/task"), {}) == 1; }));
  }
  std::unique_ptr<Debuginfod> at(const std::string& url, DebuginfodLimits limits = {}) {
    ::setenv("DEBUGINFOD_URLS", url.c_str(), 1);
    return Debuginfod::from_environment(limits);
  }

  test::TestDirectory directory_;
};

/// An executable and its separate debug information, known to a server.
class ServedFiles : public DebuginfodTest {
protected:
  void SetUp() override {
    DebuginfodTest::SetUp();
    MQBRIDGE_SKIP_IF_LACKING(run_command({"debuginfod", "--version"}, 10s)
                                 ? std::string()
                                 : "no debuginfod: apt install debuginfod");
    const auto served = directory_ / "served";
    fs::create_directories(served);
    const auto library = (served / "library.so").string();
    run({MQBRIDGE_TEST_CC, "-g", "-w", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id",
         MQBRIDGE_TEST_SAMPLES "/layouts.c", "-o", library});
    run({"objcopy", "--only-keep-debug", library, library + ".debug"});
    run({"objcopy", "--strip-all", library});
    const auto file = ElfFile::open(library);
    ASSERT_TRUE(file) << file.error().message;
    build_id_ = (*file)->build_id();
    start(served);
  }

  void start(const fs::path& served) {
    std::string port;
    ::close(test::listen_on_loopback(port)); // free a moment ago
    url_ = fmt::format("http://127.0.0.1:{}", port);
    server_ = std::make_unique<test::ChildProcess>(
        test::ChildSpec{{"debuginfod", "-d", (directory_ / "index.sqlite").string(), "-p", port,
                         "-F", "-t", "0", "-c", "1", served.string()},
                        {}});
    // It knows the files once it has looked at them all. What a client did not get, it remembers.
    int attempt = 0;
    const bool ready = test::eventually(
        20s,
        [&] {
          const auto cache = directory_ / fmt::format("attempt{}", attempt++);
          ::setenv("DEBUGINFOD_CACHE_PATH", cache.c_str(), 1);
          const auto found = at(url_)->find(Kind::debuginfo, build_id_, {});
          return found && *found;
        },
        50ms);
    ::setenv("DEBUGINFOD_CACHE_PATH", (directory_ / "client").c_str(), 1);
    ASSERT_TRUE(ready) << server_->out() << server_->err();
  }

  std::string url_;
  std::string build_id_;
  std::unique_ptr<test::ChildProcess> server_;
};

TEST_F(ServedFiles, AreFoundByBuildId) {
  const auto client = at(url_);
  ASSERT_TRUE(client);
  const auto executable = client->find(Kind::executable, build_id_, {});
  ASSERT_TRUE(executable) << executable.error().message;
  ASSERT_TRUE(*executable) << server_->err();
  const auto file = ElfFile::open(**executable);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->build_id(), build_id_);
  EXPECT_FALSE((*file)->has_dwarf());

  const auto debug = client->find(Kind::debuginfo, build_id_, {});
  ASSERT_TRUE(debug) << debug.error().message;
  ASSERT_TRUE(*debug);
  const auto debug_file = ElfFile::open(**debug);
  ASSERT_TRUE(debug_file) << debug_file.error().message;
  EXPECT_TRUE((*debug_file)->has_dwarf());
  EXPECT_THAT((*debug)->string(), HasSubstr((directory_ / "client").string()));
}

TEST_F(ServedFiles, AnUnknownBuildIsNoError) {
  const auto client = at(url_);
  const auto none = client->find(Kind::executable, unknown_build, {});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(*none, std::nullopt);
  // The server is as good as before.
  const auto known = client->find(Kind::executable, build_id_, {});
  ASSERT_TRUE(known);
  EXPECT_TRUE(*known);
}

TEST_F(DebuginfodTest, NobodyIsAskedUnlessTheVariableSaysSo) {
  ::unsetenv("DEBUGINFOD_URLS");
  EXPECT_EQ(Debuginfod::from_environment(), nullptr);
  EXPECT_EQ(at(""), nullptr);
}

TEST_F(DebuginfodTest, AServerThatIsDownIsAskedOnce) {
  std::string port;
  ::close(test::listen_on_loopback(port));
  const auto client = at("http://127.0.0.1:" + port);
  const auto start = steady_clock::now();
  const auto failed = client->find(Kind::executable, unknown_build, {});
  EXPECT_LT(steady_clock::now() - start, soon);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "debuginfod.failed");
  EXPECT_THAT(failed.error().message, HasSubstr(port));
  EXPECT_THAT(failed.error().hint, HasSubstr("DEBUGINFOD_URLS"));
  const auto not_asked = client->find(Kind::debuginfo, unknown_build, {});
  ASSERT_TRUE(not_asked);
  EXPECT_EQ(*not_asked, std::nullopt);
}

TEST_F(DebuginfodTest, ASilentServerIsGivenUpSoon) {
  std::string port;
  const int listener = test::listen_on_loopback(port); // the kernel accepts; nobody answers
  const auto client = at("http://127.0.0.1:" + port, {.silence = 500ms, .total = 60s});
  const auto start = steady_clock::now();
  const auto failed = client->find(Kind::executable, unknown_build, {});
  EXPECT_LT(steady_clock::now() - start, soon);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "debuginfod.timeout");
  EXPECT_EQ(client->find(Kind::executable, unknown_build, {}).value(), std::nullopt);
  EXPECT_LT(steady_clock::now() - start, soon) << "asked again";
  ::close(listener);
}

TEST_F(DebuginfodTest, ATrickleIsGivenUpWhenItTakesTooLong) {
  std::string port;
  const int listener = test::listen_on_loopback(port);
  std::jthread server([listener](const std::stop_token& stop) {
    const int socket = ::accept(listener, nullptr, nullptr);
    const std::string_view head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    ::send(socket, head.data(), head.size(), MSG_NOSIGNAL);
    while (!stop.stop_requested() && ::send(socket, "x", 1, MSG_NOSIGNAL) == 1)
      std::this_thread::sleep_for(20ms);
    ::close(socket);
  });
  const auto client = at("http://127.0.0.1:" + port, {.silence = 60s, .total = 500ms});
  const auto start = steady_clock::now();
  std::uint64_t all = 0;
  const auto failed =
      client->find(Kind::executable, unknown_build, [&](std::uint64_t, std::uint64_t of) {
        all = std::max(all, of);
        return true;
      });
  EXPECT_LT(steady_clock::now() - start, soon);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "debuginfod.timeout");
  EXPECT_EQ(all, 1'000'000U) << "progress says how much there is";
  ::close(listener);
}

TEST_F(DebuginfodTest, WhoNoLongerWaitsIsHeard) {
  std::string port;
  const int listener = test::listen_on_loopback(port);
  const auto client = at("http://127.0.0.1:" + port, {.silence = 60s, .total = 60s});
  const auto start = steady_clock::now();
  const auto failed = client->find(Kind::executable, unknown_build,
                                   [](std::uint64_t, std::uint64_t) { return false; });
  EXPECT_LT(steady_clock::now() - start, soon);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "debuginfod.given_up");
  ::close(listener);
}

TEST_F(DebuginfodTest, WhoWaitsForAnotherThreadsFileIsHeard) {
  std::string port;
  const int listener = test::listen_on_loopback(port);
  const auto client = at("http://127.0.0.1:" + port, {.silence = 60s, .total = 60s});
  std::promise<void> asked;
  std::atomic<bool> enough = false;
  std::jthread first([&] {
    std::once_flag once;
    const auto failed =
        client->find(Kind::executable, unknown_build, [&](std::uint64_t, std::uint64_t) {
          std::call_once(once, [&] { asked.set_value(); });
          return !enough;
        });
    EXPECT_FALSE(failed);
  });
  EXPECT_EQ(asked.get_future().wait_for(soon), std::future_status::ready);
  const auto failed = client->find(Kind::debuginfo, unknown_build,
                                   [](std::uint64_t, std::uint64_t) { return false; });
  EXPECT_FALSE(enough.exchange(true));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "debuginfod.given_up");
  first.join();
  ::close(listener);
}

} // namespace
} // namespace mqbridge
