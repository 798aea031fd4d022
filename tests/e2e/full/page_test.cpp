// The page of a report, in a browser: what it says is what the text and the JSON of the same dump
// say, whatever names a target has.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/own_service.h"
#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/child_process.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <regex>
#include <sstream>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;

/// Where npm has put what drives the browser; it is there after the first test.
fs::path modules() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache != nullptr ? fs::path(cache)
                           : fs::path(home != nullptr ? home : "/tmp") / ".cache") /
         "mqbridge/page-tests";
}

std::string lacking_browser() {
  for (const char* program : {"chromium", "node", "npm", "dot"})
    if (auto lacking = test::lacking_program(program, program); !lacking.empty())
      return lacking;
  if (fs::exists(modules() / "node_modules/axe-core"))
    return "";
  fs::create_directories(modules());
  for (const char* file : {"package.json", "package-lock.json"})
    fs::copy_file(fs::path(MQBRIDGE_SOURCES) / "tests/page" / file, modules() / file,
                  fs::copy_options::update_existing);
  const Outcome installed =
      run_program({{"npm", "ci", "--ignore-scripts", "--prefix", modules().string()}}, 5min);
  return installed.status() == 0 ? "" : "npm ci: " + installed.err;
}

/// What is wrong with the page of this document. `milliseconds`: for opening and filtering it.
std::string faults_of_page(const json& document, int milliseconds = 5000) {
  const test::TempDirectory directory;
  const std::string file = (directory / "dump.json").string();
  const std::string shown = (directory / "shown.json").string();
  const std::string page = (directory / "page.html").string();
  std::ofstream(file) << document;
  const Outcome read = run_mqbridge({"show", file, "--format", "json", "-o", shown}, 2min);
  if (!fs::exists(shown))
    return read.err;
  run_mqbridge({"show", file, "--format", "html", "-o", page}, 2min);
  const Outcome text = run_mqbridge({"show", file, "--full", "--show", "200"}, 2min);
  const std::regex row("(^|\n)    (send|recv|unexp) +(?! |none )");
  const auto rows = std::distance(std::sregex_iterator(text.out.begin(), text.out.end(), row),
                                  std::sregex_iterator());
  const Outcome checked =
      run_program({{"node", MQBRIDGE_SOURCES "/tests/page/check.mjs", page, shown,
                    std::to_string(rows), std::to_string(milliseconds), modules().string()}},
                  5min);
  return checked.status() == 0 ? "" : checked.out + checked.err;
}

/// What Graphviz says of the graph of this document.
std::string faults_of_graph(const json& document) {
  const test::TempDirectory directory;
  const std::string file = (directory / "dump.json").string();
  const std::string graph = (directory / "graph.dot").string();
  std::ofstream(file) << document;
  run_mqbridge({"show", file, "--format", "dot", "-o", graph}, 2min);
  const Outcome drawn = run_program({{"dot", "-Tsvg", graph, "-o", "/dev/null"}}, 2min);
  return drawn.status() == 0 ? drawn.err : "dot: " + drawn.err;
}

json document_of(const std::string& scenario, int ranks) {
  MpiJob job({.program = "verdict", .arguments = {scenario}, .ranks = ranks});
  json document =
      dump_json({"--mpirun", std::to_string(job.launcher()), "--analyze", "--twice", "0.5"})
          .document;
  return document;
}

class PageOfEveryVerdict : public testing::TestWithParam<VerdictCase> {};

TEST_P(PageOfEveryVerdict, SaysWhatTheTextSays) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_browser());
  VerdictJob job(GetParam());
  const json document = job.look().document;
  EXPECT_EQ(job.finish(), "");
  EXPECT_EQ(faults_of_page(document), "");
  EXPECT_EQ(faults_of_graph(document), "");
}

INSTANTIATE_TEST_SUITE_P(Of, PageOfEveryVerdict, testing::ValuesIn(verdict_cases()),
                         [](const auto& each) { return case_name(each.param); });

/// Puts names into each text that a target could choose.
void rename_all(json& value, const std::string& name) {
  const std::vector<std::string> keys = {"name",     "host",       "function",
                                         "file",     "executable", "version",
                                         "endpoint", "message",    "transport"};
  if (!value.is_structured())
    return;
  for (auto member = value.begin(); member != value.end(); ++member)
    if (value.is_object() && member->is_string() &&
        std::find(keys.begin(), keys.end(), member.key()) != keys.end())
      *member = name;
    else if (!value.is_object() || member.key() != "statistics") // its names are mqbridge's own
      rename_all(*member, name);
}

TEST(PageOfHostileNames, ShowsThemAsText) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_browser());
  const json document = document_of("recv_ring", 2);
  for (const std::string& name : {std::string("<script>window.ran = 1</script>"),
                                  std::string("</script><img src=x: onerror=alert(1)>"),
                                  std::string("\" onload=\"window.ran = 4"),
                                  std::string("--> <!-- ]]>"), std::string("\u202egnp.exe\u2066"),
                                  std::string("a\0b\x1b[31m", 8), std::string(1'000'000, 'x')}) {
    json hostile = document;
    hostile["earlier"] = nullptr; // of the same processes by other names
    rename_all(hostile["ranks"], name);
    EXPECT_EQ(faults_of_page(hostile), "") << name.substr(0, 40);
  }
}

TEST(PageOfADamagedDocument, ThrowsNothingAndEnds) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_browser());
  const test::TempDirectory directory;
  const std::string file = (directory / "dump.json").string();
  const std::string page = (directory / "page.html").string();
  std::ofstream(file) << document_of("barrier_behind", 8);
  run_mqbridge({"show", file, "--format", "html", "-o", page});
  const Outcome fuzzed =
      run_program({{"node", MQBRIDGE_SOURCES "/tests/page/fuzz.mjs", page, "30"}}, 3min);
  EXPECT_EQ(fuzzed.status(), 0) << fuzzed.out;
  EXPECT_THAT(fuzzed.out, testing::EndsWith(" damaged documents\n"));
}

/// Two jobs that know nothing of each other, and a rank of which no stack was read.
TEST(PageOfTwoJobs, HasATreeOfStacksForEach) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_browser());
  json document = document_of("recv_ring", 2);
  const json other = document_of("barrier_behind", 4);
  for (json rank : other["ranks"]) {
    if (rank["rank"] == 2)
      rank["stacks"] = nullptr;
    document["ranks"].push_back(std::move(rank));
  }
  document["earlier"] = nullptr;
  document["analysis"] = nullptr;
  const test::TempDirectory directory;
  const std::string file = (directory / "dump.json").string();
  std::ofstream(file) << document;
  const auto analyzed = run_mqbridge({"analyze", file, "--format", "json"});
  EXPECT_EQ(faults_of_page(json::parse(analyzed.out)), "");
}

TEST(PageOfManyRanks, IsSmallAndThereAtOnce) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_browser());
  json document = document_of("barrier_behind", 8);
  const json few = document["ranks"];
  document["earlier"] = nullptr;
  document["ranks"] = json::array();
  for (int number = 0; number < 10'000; ++number) {
    json rank = few[static_cast<std::size_t>(number % 4)];
    rank["rank"] = rank["world_rank"] = number;
    rank["pid"] = 1000 + number;
    rank["host"] = fmt::format("node{}", number / 64);
    document["ranks"].push_back(std::move(rank));
  }
  EXPECT_EQ(faults_of_page(document, 3000), "");
}

/// A live look at a job that hangs, its history of ten looks, the service killed and started again
/// under the open page, the report, what has changed, and a link that is used twice.
TEST(PageOfTheService, IsDriven) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_browser());
  const MpiJob job({.program = "ring_deadlock", .ranks = 4});
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  OwnService service(job.launcher());
  const test::TempDirectory directory;
  const std::string restart = (directory / "restart").string();
  const std::string link = service.link();
  std::jthread restarting([&](const std::stop_token& stop) {
    while (!fs::exists(restart) && !stop.stop_requested())
      std::this_thread::sleep_for(50ms);
    service.process().signal(SIGKILL);
    service.process().wait(5s);
    service.start(); // it lives no longer than this thread
    while (!stop.stop_requested())
      std::this_thread::sleep_for(50ms);
  });
  const Outcome driven = run_program({.argv = {"node", MQBRIDGE_SOURCES "/tests/page/service.mjs",
                                               link, "ring", modules().string()},
                                      .environment = {{"RESTART", restart}}},
                                     3min);
  EXPECT_EQ(driven.status(), 0) << driven.out << driven.err;
}

} // namespace
} // namespace mqbridge::e2e
