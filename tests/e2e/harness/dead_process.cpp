#include "tests/e2e/harness/dead_process.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/core_files.h"
#include "tests/support/faults_tried.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <random>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

/// What belongs to the way to a process, and not to the process; and of its stacks what must not
/// have changed from one look to the next, as it sleeps in a loop.
json without_the_way(json rank) {
  rank.erase("stacks");
  for (json& call : rank["blocked_in"])
    call = {{"thread", call["thread"]}, {"call", call["call"]}, {"function", call["function"]}};
  for (const char* field :
       {"endpoint", "host", "statistics", "stopped_ms", "stopped_at", "process_state"})
    rank.erase(field);
  return rank;
}

} // namespace

DeadProcess::DeadProcess(const std::string& scenario)
    : process_([&](const auto& directory) {
        return test::leaving_cores(SingleProcess::command("oracle_poster", directory, {scenario}),
                                   directory, false);
      }) {
  process_.await_ready();
  if (scenario.starts_with("blocked") && !process_.await_spinning())
    throw std::runtime_error("the poster does not block in MPI");
  kill(Kind::native);
}

DeadProcess::DeadProcess(const StartCommand& command, Kind kind)
    : process_([&](const auto& directory) {
        return test::leaving_cores(command(directory), directory, kind == Kind::guest);
      }) {
  process_.await_ready();
  kill(kind);
}

void DeadProcess::kill(Kind kind) {
  // QEMU 10 takes SIGABRT for an end of its own, and writes no core of the guest.
  ::kill(process_.pid(), kind == Kind::guest ? SIGQUIT : SIGABRT);
  const auto words = process_.finish();
  core_ = test::core_in(process_.directory(), kind == Kind::guest);
  if (core_.empty())
    throw std::runtime_error("no core was written: " + words);
}

void expect_gcore_as_live(const StartCommand& command, Mpi mpi,
                          const std::vector<std::string>& options) {
  SingleProcess process(command);
  process.await_ready();
  const test::TempDirectory cores;
  auto arguments = options;
  arguments.push_back(local_target(process.pid()));
  const auto live = dump_json(arguments);
  ASSERT_EQ(live.status(), 0) << testing::PrintToString<Outcome>(live);
  arguments.back() = "core:" + test::gcore(process.pid(), cores.path()).string();
  const auto dead = dump_json(arguments);
  ASSERT_EQ(dead.status(), 0) << testing::PrintToString<Outcome>(dead);
  EXPECT_EQ(without_the_way(dead.document["ranks"][0]).dump(1),
            without_the_way(live.document["ranks"][0]).dump(1));
  if (mpi == Mpi::lists_all) {
    EXPECT_THAT(differences(read_oracle(process.directory(), 0), dead.document["ranks"][0]),
                testing::IsEmpty());
  }
  EXPECT_EQ(process.finish(), "");
}

void expect_nothing_invented(const Oracle& oracle, const json& rank) {
  if (!rank.contains("communicators"))
    return;
  for (const auto& communicator : rank["communicators"]) {
    for (const auto& [queue, contents] : communicator["queues"].items()) {
      for (const auto& operation : contents["operations"]) {
        const bool is_posted = std::ranges::any_of(oracle.operations, [&](const json& posted) {
          return posted["queue"] == queue && posted["tag"] == operation["tag"] &&
                 posted["length"] == operation["length"]["value"];
        });
        EXPECT_TRUE(is_posted) << operation.dump(1);
      }
    }
  }
}

void expect_damage_survived(const DeadProcess& dead, int times) {
  constexpr std::size_t damaged_bytes = 12 * 1024; // headers and notes
  std::fstream core(dead.core(), std::ios::binary | std::ios::in | std::ios::out);
  std::string sound(damaged_bytes, '\0');
  core.read(sound.data(), static_cast<std::streamsize>(sound.size()));
  std::mt19937 random(13); // NOLINT(bugprone-random-generator-seed): the same each time
  for (int i = 0; i < times; ++i) {
    auto bytes = sound;
    for (int left = 4; left > 0; --left)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    core.seekp(0).write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
    const auto dump = dump_json({dead.target()});
    EXPECT_GE(dump.status(), 0) << i << testing::PrintToString<Outcome>(dump);
    EXPECT_LE(dump.status(), 3) << i;
    EXPECT_TRUE(dump.document.is_object()) << i;
    test::faults_tried(1);
  }
  core.seekp(0).write(sound.data(), static_cast<std::streamsize>(sound.size())).flush();
}

} // namespace mqbridge::e2e
