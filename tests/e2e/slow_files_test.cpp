// Files of this host on a slow file system: --max-stop holds all the same, and no rank waits for
// another one's file. What is measured is how long the process is traced, by /proc.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::steady_clock;
using test::GdbServer;
using test::ServerMode;

constexpr auto slowness = 2500ms;

/// A process with some receives under a gdbserver of its own, where `program` is a copy of
/// recorder_list.
class Rank {
public:
  explicit Rank(const fs::path& program)
      : process_([&](const fs::path& directory) {
          fs::create_directories(program.parent_path());
          fs::copy_file(SingleProcess::command("recorder_list", directory).argv[0], program);
          auto spec = SingleProcess::command("recorder_list", directory, {"10", "65536", "1"});
          spec.argv[0] = program.string();
          return spec;
        }) {
    process_.await_ready();
    server_ = std::make_unique<GdbServer>(ServerMode::multi, process_.pid());
  }
  std::string endpoint() const { return server_->endpoint(); }
  pid_t pid() const { return process_.pid(); }
  bool finishes() { return process_.finish().empty(); }

private:
  SingleProcess process_;
  std::unique_ptr<GdbServer> server_;
};

/// How long a process is seen to be traced.
class Held {
public:
  explicit Held(pid_t pid) : pid_(pid) {}
  void look() {
    const auto now = steady_clock::now();
    const bool held = test::tracer_of(pid_) != 0;
    if (held && !from_)
      from_ = now;
    if (!held && from_ && !to_)
      to_ = now;
  }
  /// nullopt: not from its beginning to its end.
  std::optional<steady_clock::duration> time() const {
    return from_ && to_ ? std::optional(*to_ - *from_) : std::nullopt;
  }

private:
  pid_t pid_;
  std::optional<steady_clock::time_point> from_;
  std::optional<steady_clock::time_point> to_;
};

test::ChildSpec slow_dump(const std::vector<std::string>& options, const fs::path& slow,
                          const fs::path& cache) {
  std::vector<std::string> words{"dump", "--format", "json"};
  words.insert(words.end(), options.begin(), options.end());
  auto spec = mqbridge_command(words);
  spec.environment = {{"LD_PRELOAD", MQBRIDGE_SLOW_OPEN},
                      {"SLOW_OPEN", fmt::format("{} {}", slowness.count(), slow.string())},
                      {"XDG_CACHE_HOME", cache.string()}};
  return spec;
}

json document_of(const test::ChildProcess& dump) {
  auto document = json::parse(dump.out(), nullptr, false);
  if (!document.is_object())
    ADD_FAILURE() << dump.out() << dump.err();
  return document;
}

/// A place for a copy of what `program` maps, by its own path or by its build-id.
fs::path in_sysroot(const fs::path& sysroot, const fs::path& program) {
  return sysroot / program.relative_path();
}
fs::path in_debug_directory(const fs::path& directory, const fs::path& program) {
  const auto notes = run_program({{"readelf", "-n", program.string()}});
  constexpr std::string_view label = "Build ID: ";
  const auto at = notes.out.find(label);
  const auto id = at == std::string::npos ? "" : notes.out.substr(at + label.size(), 40);
  EXPECT_EQ(id.size(), 40U) << notes.out << notes.err;
  return directory / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug");
}

/// A dump that finds some files slow, and its target.
class SlowDump {
public:
  /// `copy`: where a copy of the program is to be.
  SlowDump(const fs::path& program, const std::optional<fs::path>& copy, const fs::path& slow,
           const fs::path& cache, std::vector<std::string> options)
      : rank_(program), held_(rank_.pid()) {
    if (copy) {
      fs::create_directories(copy->parent_path());
      fs::copy_file(program, *copy);
    }
    options.insert(options.end(), {"--max-stop", "0.4", rank_.endpoint()});
    spec_ = slow_dump(options, slow, cache);
  }

  void start() { dump_.emplace(spec_); }

  bool over() {
    held_.look();
    return dump_->wait(0ms).has_value();
  }

  void expect_released() {
    const auto document = document_of(*dump_);
    ASSERT_TRUE(document.is_object());
    const auto& rank = document["ranks"][0];
    const auto held = held_.time();
    ASSERT_TRUE(held) << rank["errors"].dump(2);
    // Beside --max-stop and a quarter of a second: what a busy machine adds.
    EXPECT_LT(*held, 1200ms) << rank["errors"].dump(2);
    const std::chrono::duration<double, std::milli> seen = *held;
    EXPECT_LT(std::abs(rank["stopped_ms"].get<double>() - seen.count()), 300);
    EXPECT_TRUE(find_error(rank, "stop.limit").is_object()) << rank["errors"].dump(2);
    EXPECT_EQ(rank["errors"].size(), 1U) << rank["errors"].dump(2);
    EXPECT_NE(rank["status"], "ok");
    EXPECT_TRUE(rank_.finishes());
  }

private:
  Rank rank_;
  Held held_;
  test::ChildSpec spec_;
  std::optional<test::ChildProcess> dump_;
};

/// All at once: each takes as long as the file system.
TEST(SlowFiles, HoldNoTargetLongerThanMaxStop) {
  const test::TempDirectory top;
  const auto program = [&](const char* name) { return top / name / "recorder_list"; };
  const auto cache = top / "cache";
  std::map<std::string, SlowDump> dumps;
  const auto prepare = [&](const char* name, const std::optional<fs::path>& copy,
                           const fs::path& slow, const std::vector<std::string>& options = {}) {
    test::faults_tried(1);
    dumps.try_emplace(name, program(name), copy, slow, cache / name, options);
  };
  prepare("executable", std::nullopt, program("executable"));
  const auto sysroot = top / "root";
  prepare("sysroot", in_sysroot(sysroot, program("sysroot")), sysroot,
          {"--sysroot", sysroot.string()});
  const auto debug = top / "debug-files";
  prepare("debug",
          in_debug_directory(debug, SingleProcess::command("recorder_list", top.path()).argv[0]),
          debug, {"--debug-dir", debug.string()});
  prepare("cache", std::nullopt, cache / "cache" / "mqbridge" / "replay");
  for (auto& [name, dump] : dumps)
    dump.start();
  const auto give_up = steady_clock::now() + 60s;
  for (bool over = false; !over && steady_clock::now() < give_up;) {
    over = true;
    for (auto& [name, dump] : dumps)
      over = dump.over() && over;
    std::this_thread::sleep_for(2ms);
  }
  for (auto& [name, dump] : dumps) {
    SCOPED_TRACE(name);
    dump.expect_released();
  }
}

TEST(SlowFiles, OfOneRankKeepNoOtherWaiting) {
  test::faults_tried(1);
  const test::TempDirectory top;
  Rank slow(top / "slow" / "recorder_list");
  Rank fast(top / "fast" / "recorder_list");
  Held held(fast.pid());
  auto spec = slow_dump({slow.endpoint(), fast.endpoint()}, top / "slow", top / "cache");
  spec.environment.emplace_back("SLOW_OPEN_TIMES", "1");
  test::ChildProcess dump(spec);
  EXPECT_TRUE(test::eventually(
      60s,
      [&] {
        held.look();
        return dump.wait(0ms).has_value();
      },
      2ms));
  const auto document = document_of(dump);
  ASSERT_TRUE(document.is_object());
  for (const auto& rank : document["ranks"])
    EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(2);
  ASSERT_TRUE(held.time());
  EXPECT_LT(*held.time(), slowness / 2);
  EXPECT_TRUE(slow.finishes());
  EXPECT_TRUE(fast.finishes());
}

} // namespace
} // namespace mqbridge::e2e
