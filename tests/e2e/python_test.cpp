// Functions and lines of Python in stacks: those that the programs themselves say.
// MQBRIDGE_TEST_PYTHONS names further interpreters, with blanks between them.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/child_process.h"
#include "tests/support/core_files.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <map>
#include <random>
#include <sstream>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::IsEmpty;
using testing::Not;

const std::string python_program = MQBRIDGE_INFERIOR_SOURCES "/python_frames.py";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::vector<std::string> interpreters() {
  const char* further = std::getenv("MQBRIDGE_TEST_PYTHONS");
  auto all = words_of(further != nullptr ? further : "");
  all.emplace_back("/usr/bin/python3");
  return all;
}

std::vector<std::string> scenarios_of(const std::string& python) {
  return words_of(run_program({{python, python_program, "--list"}}).out);
}

/// A program that stays where it has said that it is.
class StayingPython {
public:
  StayingPython(const std::string& python, const std::string& scenario)
      : process_({{python, python_program, (directory_ / "said").string(), scenario}}) {
    const auto file = directory_ / "said";
    if (!test::eventually(30s, [&] { return std::filesystem::exists(file); }))
      throw std::runtime_error(scenario + " does not say where it is");
    std::ifstream(file) >> said_;
    if (!test::eventually(10s, [&] { return test::process_state(process_.pid()) == 'S'; }))
      throw std::runtime_error(scenario + " does not stay");
  }

  pid_t pid() const { return process_.pid(); }
  const json& said() const { return said_; }
  std::filesystem::path directory() const { return directory_.path(); }

private:
  test::TempDirectory directory_;
  test::ChildProcess process_;
  json said_;
};

json rank_of(const std::string& target, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"stacks", "--format", "json"});
  options.push_back(target);
  const Outcome outcome = run_mqbridge(options);
  EXPECT_GE(outcome.status(), 0) << outcome.err;
  const json document = json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << outcome.out << outcome.err;
  return document.is_discarded() ? json() : document["ranks"][0];
}

/// As the program says them.
json frames_of(const json& stack) {
  json frames = json::array();
  for (const json& frame : stack["frames"])
    if (frame.value("language", "") == "python")
      frames.push_back({frame["file"], frame["function"], frame["line"]});
  return frames;
}

TEST(Python, FunctionsAndLinesAreThoseThatTheProgramSays) {
  for (const std::string& python : interpreters()) {
    int tried = 0;
    for (const std::string& scenario : scenarios_of(python)) {
      SCOPED_TRACE(python + " " + scenario);
      const StayingPython subject(python, scenario);
      const json rank = rank_of(local_target(subject.pid()));
      std::map<std::string, json> seen;
      for (const json& stack : rank["stacks"]) {
        seen[stack["thread"]] = frames_of(stack);
        EXPECT_EQ(stack["end"], "outermost");
      }
      for (const auto& [thread, frames] : subject.said()["threads"].items())
        EXPECT_EQ(seen[thread], frames) << rank["errors"];
      ++tried;
    }
    EXPECT_GE(tried, 45) << python;
  }
}

TEST(Python, IsLeftOutByAnOption) {
  const StayingPython subject("/usr/bin/python3", "plain");
  const json with = rank_of(local_target(subject.pid()));
  const json without = rank_of(local_target(subject.pid()), {"--no-python"});
  EXPECT_THAT(frames_of(with["stacks"][0]), Not(IsEmpty()));
  EXPECT_THAT(frames_of(without["stacks"][0]), IsEmpty());
  EXPECT_THAT(with["blocked_in"][0]["file"].get<std::string>(), testing::EndsWith("frames.py"));
  EXPECT_THAT(without["blocked_in"][0]["file"], testing::Ne(with["blocked_in"][0]["file"]));
}

TEST(Python, OfADamagedCoreNoFunctionIsShownThatIsNotThere) {
  const StayingPython subject("/usr/bin/python3", "recursion_through_c");
  const auto file = test::gcore(subject.pid(), subject.directory());
  const std::string target = "core:" + file.string();
  const json whole = frames_of(rank_of(target)["stacks"][0]);
  ASSERT_EQ(whole, subject.said()["threads"][std::to_string(subject.pid())]);
  std::fstream core(file, std::ios::in | std::ios::out | std::ios::binary);
  const json& objects = subject.said()["objects"];
  std::mt19937 random(35); // NOLINT(bugprone-random-generator-seed): the same each time
  constexpr int rounds = 120;
  int hidden = 0;
  for (int round = 0; round < rounds; ++round) {
    const json& object = objects[random() % objects.size()];
    const std::uint64_t at =
        object[0].get<std::uint64_t>() + random() % (object[1].get<std::uint64_t>() / 8) * 8;
    const auto place = test::place_in_core(core, at);
    std::array<char, 8> sound = {};
    core.seekg(place).read(sound.data(), sound.size());
    std::array<char, 8> other = {};
    if (random() % 2 == 0)
      for (char& byte : other)
        byte = static_cast<char>(random());
    core.seekp(place).write(other.data(), other.size()).flush();
    const json rank = rank_of(target);
    json seen = frames_of(rank["stacks"][0]);
    // A number of a line or an instruction that is damaged is another number.
    for (std::size_t i = 0; i < seen.size() && i < whole.size(); ++i)
      seen[i][2] = whole[i][2];
    EXPECT_TRUE(seen.empty() || seen == whole) << std::hex << at << " " << object << seen.dump(1);
    EXPECT_TRUE(!seen.empty() || rank["errors"].dump().find("python.") != std::string::npos)
        << "nothing is said of it";
    hidden += seen.empty() ? 1 : 0;
    core.seekp(place).write(sound.data(), sound.size()).flush();
  }
  EXPECT_GT(hidden, 5) << "nothing was damaged";
  test::faults_tried(rounds);
}

} // namespace
} // namespace mqbridge::e2e
