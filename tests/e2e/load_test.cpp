// Many stubs at once, one of them silent, and ends that come at any point: a signal, a reader that
// goes, a disk that is full. No target stays held, and what is said is whole or said not to be.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/process_stub.h"
#include "tests/e2e/harness/queue_view.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <list>
#include <poll.h>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::Answer;
using test::ChildProcess;
using test::Ending;
using test::eventually;
using test::ScriptedStub;
using test::TempDirectory;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr int receives = 10;

// Ranks that are one process, each behind a stub of its own.
class Crowd {
public:
  explicit Crowd(int count) {
    for (int i = 0; i < count; ++i)
      front_process(stubs_.emplace_back(), process_.pid(), first_pid + i);
  }

  std::vector<std::string> arguments(std::vector<std::string> before) const {
    for (const ScriptedStub& stub : stubs_)
      before.push_back(stub.endpoint().text);
    return before;
  }
  ScriptedStub& first() { return stubs_.front(); }
  // Whether each stub whose process was asked for has been told to let it go.
  bool all_released() const {
    return std::all_of(stubs_.begin(), stubs_.end(), [](const ScriptedStub& stub) {
      return stub.count("?") == 0 || stub.count("D") > 0;
    });
  }
  std::ptrdiff_t met() const {
    return std::count_if(stubs_.begin(), stubs_.end(),
                         [](const ScriptedStub& stub) { return stub.count("?") > 0; });
  }

private:
  static constexpr pid_t first_pid = 100'000;

  SingleProcess process_{"many_receives", {std::to_string(receives)}};
  std::list<ScriptedStub> stubs_;
};

std::size_t complete_ranks(const json& document) {
  return static_cast<std::size_t>(
      std::count_if(document["ranks"].begin(), document["ranks"].end(), [](const json& rank) {
        return rank["status"] == "ok" && receives_of(rank) == receives;
      }));
}

#if !defined(__SANITIZE_ADDRESS__) // whose own memory would be what is measured
TEST(FullLoadTest, FiveHundredStubsAtOnceInBoundedMemory) {
  constexpr int ranks = 500;
  // 64 ranks at once, each with a store of its own, and what is kept of 500 for the report.
  constexpr std::uint64_t bound_kib = 256 * 1024;
  const Crowd crowd(ranks);
  ChildProcess dump(mqbridge_command(crowd.arguments({"dump", "--format", "json"})));
  std::uint64_t peak = 0;
  ASSERT_TRUE(eventually(180s, [&] {
    peak = std::max(peak, test::peak_memory_kib(dump.pid()));
    return dump.wait(0ms).has_value();
  }));
  const json document = json::parse(dump.out(), nullptr, false);
  ASSERT_TRUE(document.is_object()) << dump.err();
  EXPECT_EQ(complete_ranks(document), ranks);
  EXPECT_TRUE(crowd.all_released());
  EXPECT_GT(peak, 0U);
  EXPECT_LT(peak, bound_kib);
  RecordProperty("peak_kib", static_cast<int>(peak));
}
#endif

TEST(LoadTest, ASilentStubDelaysTheOthersByNothing) {
  constexpr int ranks = 12;
  Crowd crowd(ranks);
  const auto alone = Clock::now();
  const DumpOutcome before = dump_json(crowd.arguments({"--jobs", "2"}));
  const auto usual = Clock::now() - alone;
  EXPECT_EQ(complete_ranks(before.document), ranks);

  crowd.first().on("m", Answer::nothing());
  const auto start = Clock::now();
  ChildProcess dump(mqbridge_command(
      crowd.arguments({"dump", "--format", "ndjson", "--jobs", "2", "--timeout", "5"})));
  // All but one are there while that one is still waited for.
  const auto lines = [&] {
    const std::string out = dump.out();
    return std::count(out.begin(), out.end(), '\n');
  };
  EXPECT_TRUE(eventually(60s, [&] { return lines() >= ranks; })) << dump.out();
  EXPECT_LT(Clock::now() - start, 5s + 2 * usual); // of two at once it takes the place of one
  EXPECT_FALSE(dump.wait(0ms)) << "the silent one was not waited for";
  const auto ending = dump.wait(60s);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 1);
  // A reply and the farewell, in which the way back into step is looked for, have a silence each.
  EXPECT_LT(Clock::now() - start, 3 * 5s + 2 * usual);
  EXPECT_THAT(dump.out(), HasSubstr("stub.timeout"));
}

struct End {
  const char* name;
  int signal;
};

void PrintTo(const End& end, std::ostream* out) {
  *out << end.name;
}

class EndedTest : public testing::TestWithParam<End> {};

// At points that are spread over the whole dump.
TEST_P(EndedTest, AtAnyPointReleasesEveryTarget) {
  constexpr int ranks = 40;
  constexpr int ends = 8;
  std::mt19937 random(static_cast<unsigned>(GetParam().signal));
  const auto start = Clock::now();
  {
    const Crowd crowd(ranks);
    run_mqbridge(crowd.arguments({"dump"}));
  }
  const auto usual = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  int in_the_middle = 0;
  for (int i = 0; i < ends; ++i) {
    const Crowd crowd(ranks);
    const TempDirectory directory;
    const auto report = directory / "dump.json";
    ChildProcess dump(
        mqbridge_command(crowd.arguments({"dump", "--format", "json", "-o", report.string()})));
    std::this_thread::sleep_for(usual * i / ends + std::chrono::milliseconds(random() % 20));
    dump.signal(GetParam().signal);
    const auto ending = dump.wait(20s);
    ASSERT_TRUE(ending) << "it does not end";
    // Before its handler is there it is ended as any program; after its last word it is too late.
    const int status = ending->code.value_or(128 + ending->signal.value_or(0));
    const bool interrupted = status == 128 + GetParam().signal;
    EXPECT_TRUE(interrupted || status == 0) << status;
    EXPECT_TRUE(eventually(5s, [&] { return crowd.all_released(); }));
    std::ifstream whole(report);
    EXPECT_TRUE(!whole || json::accept(whole)) << "half a report";
    in_the_middle += interrupted && crowd.met() > 0 ? 1 : 0;
  }
  test::faults_tried(ends);
  EXPECT_GT(in_the_middle, 1);
}

INSTANTIATE_TEST_SUITE_P(Signals, EndedTest,
                         testing::Values(End{"CtrlC", SIGINT}, End{"Term", SIGTERM},
                                         End{"Hangup", SIGHUP}),
                         [](const auto& param) { return std::string(param.param.name); });

// `shell` is a command in which "$@" is mqbridge and its arguments.
Outcome run_in_shell(const std::string& shell, const std::vector<std::string>& arguments) {
  test::ChildSpec spec = mqbridge_command(arguments);
  spec.argv.insert(spec.argv.begin(), {"bash", "-c", shell, "bash"});
  return run_program(spec);
}

TEST(LoadTest, AReaderThatGoesEndsTheDumpAndReleasesEveryTarget) {
  const Crowd crowd(40);
  for (const char* format : {"text", "json", "ndjson", "tsv"}) {
    const Outcome outcome = run_in_shell("\"$@\" | head -c 100 >/dev/null; exit ${PIPESTATUS[0]}",
                                         crowd.arguments({"dump", "--format", format, "--full"}));
    // A short report is in the pipe before the reader goes.
    EXPECT_TRUE(outcome.status() == 5 || outcome.status() == 0) << testing::PrintToString(outcome);
    EXPECT_TRUE(crowd.all_released());
  }
}

// A pipe of which nobody reads: the report is written until it is full.
class CutReportTest : public testing::TestWithParam<const char*> {
protected:
  CutReportTest() {
    EXPECT_EQ(mkfifo(pipe().c_str(), 0600), 0);
    reader_ = open(pipe().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~CutReportTest() override { close(reader_); }

  std::string pipe() const { return (directory_ / "report").string(); }
  // Not by its bytes: a page of it holds whole lines, so that how many depends on their lengths.
  bool is_full() const {
    const int writer = open(pipe().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    pollfd room{writer, POLLOUT, 0};
    const bool none = writer >= 0 && poll(&room, 1, 0) == 0;
    close(writer);
    return none;
  }
  std::string drained() const {
    std::string all;
    std::array<char, 65536> bytes;
    for (ssize_t count = 0; (count = read(reader_, bytes.data(), bytes.size())) > 0;)
      all.append(bytes.data(), static_cast<std::size_t>(count));
    return all;
  }

private:
  TempDirectory directory_;
  int reader_ = -1;
};

TEST_P(CutReportTest, EndsBehindALineAndIsSaidToBeCut) {
  test::faults_tried(1);
  SingleProcess process("recorder_list", {"5000", "65536", "1"});
  ChildProcess dump(mqbridge_command({"dump", "--format", GetParam(), "--show", "all", "-o", pipe(),
                                      local_target(process.pid())}));
  ASSERT_TRUE(eventually(30s, [this] { return is_full(); })) << dump.err();
  dump.signal(SIGTERM);
  const auto ending = dump.wait(10s);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 143);
  EXPECT_THAT(dump.err(), HasSubstr("the report is cut off"));
  const std::string report = drained();
  EXPECT_THAT(report, testing::EndsWith("\n"));
  EXPECT_TRUE(json::parse(report, nullptr, false).is_discarded());
  EXPECT_EQ(process.finish(), "");
}

// dump 2>&1 | less: there is no room for the word that the report is cut, either.
TEST_P(CutReportTest, WaitsForNobodyToReadThatItIsCut) {
  test::faults_tried(1);
  SingleProcess process("recorder_list", {"5000", "65536", "1"});
  auto command = mqbridge_command(
      {"dump", "--format", GetParam(), "--show", "all", "-o", pipe(), local_target(process.pid())});
  command.argv.insert(command.argv.begin(), {"sh", "-c", "exec \"$@\" 2>\"$0\"", pipe()});
  ChildProcess dump(command);
  ASSERT_TRUE(eventually(30s, [this] { return is_full(); })) << drained();
  dump.signal(SIGTERM);
  const auto ending = dump.wait(10s);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 143);
  EXPECT_EQ(process.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(, CutReportTest, testing::Values("text", "tsv", "json"),
                         [](const auto& of) { return std::string(of.param); });

// A file system of a given size, which is full sooner or later: for the report, for the trace and
// for what is kept from one dump to the next.
class FullDiskTest : public testing::Test {
protected:
  void SetUp() override {
    if (run_in_shell(unshare + " true", {}).status() != 0)
      GTEST_SKIP() << "no name spaces can be made here: a chroot, or a container without them";
  }

  // `command` is run with $disk a directory on that file system.
  static Outcome run_on_disk(int kib, const std::string& command,
                             const std::vector<std::string>& arguments) {
    const TempDirectory disk;
    return run_in_shell(
        fmt::format("{} bash -c 'mount -t tmpfs -o size={}k mqbridge {} && disk={} && {}' bash "
                    "\"$@\"",
                    unshare, kib, disk.path().string(), disk.path().string(), command),
        arguments);
  }

private:
  static inline const std::string unshare = "unshare --user --map-root-user --mount";
};

TEST_F(FullDiskTest, IsSaidForTheReportAndTheTraceAndLeavesNoHalfReport) {
  const Crowd crowd(6);
  int written = 0;
  int refused = 0;
  for (const int kib : {4, 8, 12, 16, 24, 32, 48, 64, 128, 4096}) {
    const Outcome outcome = run_on_disk(
        kib, "\"$@\" -o $disk/dump.json; status=$?; echo left: $(ls $disk) >&2; exit $status",
        crowd.arguments({"dump", "--format", "json"}));
    EXPECT_TRUE(crowd.all_released());
    if (outcome.status() == 0) {
      ++written;
      EXPECT_THAT(outcome.err, testing::EndsWith("left: dump.json\n"));
      continue;
    }
    ++refused;
    EXPECT_EQ(outcome.status(), 5) << kib << testing::PrintToString(outcome);
    EXPECT_THAT(outcome.err, HasSubstr("No space left"));
    EXPECT_THAT(outcome.err, testing::EndsWith("left:\n"));
  }
  test::faults_tried(static_cast<std::size_t>(written + refused));
  EXPECT_GT(written, 0);
  EXPECT_GT(refused, 2);
  const Outcome trace = run_on_disk(8, "\"$@\" --trace $disk/trace", crowd.arguments({"dump"}));
  EXPECT_EQ(trace.status(), 5) << testing::PrintToString(trace);
  EXPECT_THAT(trace.err, HasSubstr("No space left"));
}

TEST_F(FullDiskTest, CostsWhatWouldBeKeptAndNothingElse) {
  const Crowd crowd(4);
  for (const int kib : {4, 8, 16, 64, 256}) {
    const Outcome outcome =
        run_on_disk(kib, "XDG_CACHE_HOME=$disk \"$@\" && XDG_CACHE_HOME=$disk \"$@\"",
                    crowd.arguments({"dump", "--format", "ndjson"}));
    EXPECT_EQ(outcome.status(), 0) << kib << testing::PrintToString(outcome);
  }
}

} // namespace
} // namespace mqbridge::e2e
