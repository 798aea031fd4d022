// What `monitor mpi ...` of a debugger leads to.

#include "host/cli/commands/monitor_words.h"

#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <sstream>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

const MonitorScene scene{
    "/opt/mqbridge", "rank 3", "/tmp/process", "/tmp/job", {"--dll", "none", "--sysroot", "/sys"}};

std::string text_of(std::string_view line) {
  const auto answer = monitor_answer(line, scene);
  const auto* text = std::get_if<std::string>(&answer);
  return text != nullptr ? *text : "(a program)";
}

Words program_of(std::string_view line) {
  const auto answer = monitor_answer(line, scene);
  const auto* argv = std::get_if<Words>(&answer);
  return argv != nullptr ? *argv : Words();
}

TEST(MonitorWords, EachLeadsToACommandOfThisProcessOrItsJob) {
  EXPECT_THAT(program_of("queues --tag 7 --comm='a b'"),
              ElementsAre("/opt/mqbridge", "dump", "--no-analyze", "--targets", "/tmp/process",
                          "--dll", "none", "--sysroot", "/sys", "--tag", "7", "--comm=a b"));
  EXPECT_THAT(program_of("verdict"), ElementsAre("/opt/mqbridge", "why", "--targets", "/tmp/job",
                                                 "--dll", "none", "--sysroot", "/sys"));
  EXPECT_THAT(program_of("stacks"), ElementsAre("/opt/mqbridge", "stacks", "--targets",
                                                "/tmp/process", "--sysroot", "/sys"))
      << "without options that it does not take";
}

TEST(MonitorWords, NoneWritesFilesOrLooksElsewhere) {
  for (const char* line :
       {"queues -o /tmp/file", "queues --trace /tmp/file", "queues --save=/tmp/file",
        "queues --targets /etc/passwd", "queues local:1", "verdict --mpirun 1", "queues --dll x.so",
        "queues --summary=1", "vars --tag 7", "queues --rank 1"})
    EXPECT_THAT(text_of(line), HasSubstr("none of its options")) << line;
  EXPECT_THAT(text_of("queues --tag"), HasSubstr("no value"));
  EXPECT_THAT(text_of("queues 'open"), HasSubstr("quote"));
  EXPECT_THAT(text_of("nonsense\x1b[31m"), HasSubstr("none of its words"));
  EXPECT_EQ(text_of("nonsense\x1b[31m").find('\x1b'), std::string::npos);
}

using Options = std::map<std::string, std::set<std::string>>;

/// By word, as `monitor mpi help` prints them.
Options options_of_help() {
  Options options;
  std::istringstream lines(text_of(""));
  std::string word;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (line.starts_with("   ")) // below its word
      for (; !first.empty() && first.starts_with("--"); first.clear(), words >> first)
        options[word].insert(first);
    else if (line.starts_with("  "))
      word = first;
  }
  return options;
}

/// As mqbridge.py completes them: `    "queues": "--queue ...",`.
Options options_of_gdb() {
  Options options;
  std::ifstream file(MQBRIDGE_SOURCE_DIRECTORY "/host/cli/gdb/mqbridge.py");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("    \"") && line.find("\": \"") != std::string::npos) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      auto& of = options[word.substr(1, word.find('"', 1) - 1)];
      for (std::string option; words >> option;)
        if (const auto at = option.find("--"); at != std::string::npos)
          of.insert(option.substr(at, option.find_last_not_of("\",") + 1 - at));
    }
  options.erase("help");
  return options;
}

TEST(MonitorWords, GdbCompletesWhatHelpLists) {
  EXPECT_EQ(options_of_help().size(), 6U);
  EXPECT_EQ(options_of_gdb(), options_of_help());
}

} // namespace
} // namespace mqbridge
