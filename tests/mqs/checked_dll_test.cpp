// What the loading policy has looked at is what the worker loads; anything else it does not,
// whatever lies at the path by then.

#include "host/mqs/dll_policy.h"
#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"
#include "tests/support/temp_directory.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <ostream>
#include <sys/stat.h>
#include <thread>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const fs::path dlls = MQBRIDGE_TEST_DLLS;

/// Its constructor does what the sandbox forbids: nobody loads it without being told.
const fs::path evil = dlls / "CONNECTS_CONSTRUCTOR.so";

DllChoice choose(const fs::path& named, const fs::path& allowed) {
  DllPolicy policy;
  policy.allowed_directories = {allowed};
  return choose_dll(policy, {named.native(), true, "openmpi", "4.1.4"}).value();
}

WalkResult walk(const DllChoice& choice, bool sandboxed = true) {
  TestTarget target(test_platforms().front());
  auto request = target.request("PLAIN");
  request.dll = choice.path;
  request.checked = choice.checked;
  request.sandboxed = sandboxed;
  return walk_queues(request);
}

void expect_walked(const WalkResult& result) {
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.communicators.at(0).queue(OpClass::receive).total, 3U);
}

/// In a directory that the user allowed, so that others may write there.
struct Place {
  Place() { fs::copy_file(dlls / "PLAIN.so", dll); }

  void put(const fs::path& other) const {
    fs::copy_file(other, directory / "other.so");
    fs::rename(directory / "other.so", dll);
  }

  test::TempDirectory directory;
  fs::path dll = directory / "libdbg.so";
};

TEST(CheckedDll, IsLoaded) {
  const Place place;
  const auto choice = choose(place.dll, place.directory.path());
  ASSERT_TRUE(choice.checked);
  EXPECT_FALSE(choice.checked->uses_origin);
  expect_walked(walk(choice));
  expect_walked(walk(choice, false));
}

TEST(CheckedDll, FindsWhatLiesBesideIt) {
  const auto choice = choose(dlls / "BESIDE.so", dlls);
  ASSERT_TRUE(choice.checked);
  EXPECT_TRUE(choice.checked->uses_origin);
  expect_walked(walk(choice));
}

TEST(CheckedDll, ThatCannotBeLoadedIsNamedByItsPath) {
  const Place place;
  place.put(dlls / "EXECUTABLE_STACK.so");
  const auto result = walk(choose(place.dll, place.directory.path()));
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.load");
  EXPECT_THAT(result.failure->message,
              AllOf(HasSubstr(place.dll.string() + ": cannot enable"), Not(HasSubstr("/proc/"))));
}

struct Exchange {
  const char* name;
  std::function<void(const Place&)> act;
};

void PrintTo(const Exchange& exchange, std::ostream* out) {
  *out << exchange.name;
}

class ExchangedDll : public testing::TestWithParam<Exchange> {};

TEST_P(ExchangedDll, IsNotLoaded) {
  test::faults_tried(1);
  const Place place;
  const auto choice = choose(place.dll, place.directory.path());
  std::this_thread::sleep_for(20ms); // the clock of files ticks some 100 times a second
  GetParam().act(place);
  const auto result = walk(choice);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.untrusted") << result.failure->message;
  EXPECT_THAT(result.failure->message, StartsWith(place.dll.string() + " was exchanged"));
  EXPECT_THAT(result.failure->hint, Not(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(
    , ExchangedDll,
    testing::Values(Exchange{"ByAnother", [](const Place& place) { place.put(evil); }},
                    Exchange{"ByACopy", [](const Place& place) { place.put(dlls / "PLAIN.so"); }},
                    Exchange{"ByALink",
                             [](const Place& place) {
                               fs::remove(place.dll);
                               fs::create_symlink(evil, place.dll);
                             }},
                    Exchange{"ByAFifo",
                             [](const Place& place) {
                               fs::remove(place.dll);
                               ASSERT_EQ(::mkfifo(place.dll.c_str(), 0600), 0);
                             }},
                    Exchange{"WrittenTo",
                             [](const Place& place) {
                               std::fstream(place.dll, std::ios::in | std::ios::out) << '\x7f';
                             }},
                    Exchange{"Removed", [](const Place& place) { fs::remove(place.dll); }}),
    [](const auto& of) { return std::string(of.param.name); });

/// Directories are exchanged: the DLL itself stays as it was checked, and its path leads to it
/// every other moment.
TEST(CheckedDll, IsWhatIsLoadedWhileItsPathLeadsElsewhereNowAndThen) {
  const test::TempDirectory directory;
  const auto good = directory / "good";
  const auto bad = directory / "bad";
  fs::create_directory(good);
  fs::create_directory(bad);
  fs::copy_file(dlls / "PLAIN.so", good / "libdbg.so");
  fs::copy_file(evil, bad / "libdbg.so");
  const auto choice = choose(good / "libdbg.so", directory.path());
  const auto exchange = [&] {
    return ::renameat2(AT_FDCWD, good.c_str(), AT_FDCWD, bad.c_str(), RENAME_EXCHANGE);
  };
  if (exchange() != 0)
    GTEST_SKIP() << "this file system cannot exchange two directories: " << std::strerror(errno);
  int walked = 0, refused = 0;
  {
    std::jthread exchanging([&](const std::stop_token& stop) {
      while (!stop.stop_requested())
        exchange();
    });
    for (int i = 0; i < 40; ++i) {
      const auto result = walk(choice);
      ++(result.failure ? refused : walked);
      ASSERT_EQ(result.failure.value_or(Error{"dll.untrusted", "", ""}).code, "dll.untrusted")
          << result.failure->message;
    }
  }
  test::faults_tried(refused);
  std::printf("loaded %d times, refused %d times\n", walked, refused);
}

} // namespace
} // namespace mqbridge
