// What the README, its picture and the tutorial show of a job is what mqbridge prints of it.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"

#include <fstream>
#include <gmock/gmock.h>
#include <regex>
#include <sstream>
#include <utility>

namespace mqbridge::e2e {
namespace {

using testing::Contains;
using testing::SizeIs;

const std::string repository = MQBRIDGE_INFERIOR_SOURCES "/../..";

/// Lines without what is of one run or of one machine: addresses, seconds, paths, spaces.
std::vector<std::string> comparable_lines(std::istream& text) {
  const std::vector<std::pair<std::regex, std::string>> replaced = {
      {std::regex("0x[0-9a-f]+"), "ADDRESS"},
      {std::regex("over [0-9.]+ s"), "over SECONDS"},
      {std::regex("  +[^ ]*/ring_deadlock( .*)?$"), ""}, // a long path begins with "..."
      {std::regex(" +"), " "}};
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    for (const auto& [what, by] : replaced)
      line = std::regex_replace(line, what, by);
    lines.push_back(line);
  }
  return lines;
}

/// From the line that begins with `first` to the one before that which begins with `last`.
std::vector<std::string> between(const std::vector<std::string>& lines, const std::string& first,
                                 const std::string& last) {
  const auto begins_with = [](const std::string& words) {
    return [words](const std::string& line) { return line.starts_with(words); };
  };
  const auto begin = std::find_if(lines.begin(), lines.end(), begins_with(first));
  return {begin, std::find_if(begin, lines.end(), begins_with(last))};
}

/// What the picture of a terminal shows (docs/picture.py): pieces of text, those of a line at one
/// height.
std::string text_of(const std::string& svg) {
  static const std::regex piece(
      R"x(<text class="terminal-r\d+" x="[^"]*" y="([^"]*)"[^>]*>([^<]*))x");
  static const std::vector<std::pair<std::regex, std::string>> entities = {
      {std::regex("&#160;"), " "}, {std::regex("&quot;"), "\""}, {std::regex("&gt;"), ">"}};
  std::string text;
  std::string height;
  for (std::sregex_iterator it(svg.begin(), svg.end(), piece), end; it != end; ++it) {
    if (std::exchange(height, it->str(1)) != it->str(1))
      text += "\n";
    text += it->str(2);
  }
  for (const auto& [what, by] : entities)
    text = std::regex_replace(text, what, by);
  return text;
}

TEST(Readme, ShowsWhatTheDemoPrints) {
  const Outcome demo =
      run_program({{"bash", repository + "/docker/demo.sh", MQBRIDGE_BINARY_DIRECTORY}},
                  std::chrono::minutes(2));
  ASSERT_EQ(demo.status(), 0) << demo.out << demo.err;
  std::istringstream said(demo.out);
  auto printed = comparable_lines(said);
  std::erase_if(printed, [](const auto& line) { return line.starts_with(" DLL "); });
  std::ifstream page(repository + "/README.md");
  const auto shown = comparable_lines(page);

  std::ifstream picture(repository + "/docs/verdict.svg");
  std::istringstream drawn(text_of({std::istreambuf_iterator<char>(picture), {}}));
  const auto verdict = between(comparable_lines(drawn), "VERDICT", "orphan ranks");
  ASSERT_THAT(verdict, SizeIs(10)) << "the verdict, the cycle, a line each of 4 ranks, and more";
  auto printed_verdict = between(printed, "VERDICT", "To be seen");
  ASSERT_GE(printed_verdict.size(), verdict.size()) << demo.out;
  printed_verdict.resize(verdict.size());
  EXPECT_EQ(printed_verdict, verdict) << demo.out;

  const auto rank = between(shown, "Rank 0", "Rank 1");
  EXPECT_THAT(rank, Contains(" recv pending 3 17 4 B ADDRESS"));
  EXPECT_EQ(between(printed, "Rank 0", "Rank 1"), rank) << demo.out;
}

/// The block of code of this language behind `from`, and where it ends.
std::pair<std::string, std::size_t> block(const std::string& page, const std::string& language,
                                          std::size_t from = 0) {
  const std::string fence = "```" + language + "\n";
  const auto begin = page.find(fence, from) + fence.size();
  const auto end = page.find("```", begin);
  return {page.substr(begin, end - begin), end};
}

class Tutorial : public testing::Test {
protected:
  Tutorial() {
    std::ifstream file(repository + "/docs/tutorial.md");
    page_.assign(std::istreambuf_iterator<char>(file), {});
    std::istringstream text(page_);
    shown_ = comparable_lines(text);
  }

  /// As the page compiles it.
  void compile(const std::string& source) const {
    std::ofstream(directory_ / "heat.c") << source;
    const Outcome compiled = in_directory("mpicc -g -O1 heat.c -o heat -lm");
    ASSERT_EQ(compiled.status(), 0) << compiled.err;
  }

  Outcome in_directory(const std::string& command) const {
    return run_program({shell(command), environment()});
  }
  std::vector<std::string> shell(const std::string& command) const {
    return {"sh", "-c", "cd " + directory_.path().string() + " && exec " + command};
  }
  /// Root may be who runs the tests, and the machine's networks are none of theirs.
  std::vector<std::pair<std::string, std::string>> environment() const {
    return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"PRTE_ALLOW_RUN_AS_ROOT", "1"}, {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"OMPI_MCA_btl", "self,vader"},  {"OMPI_MCA_pml", "ob1"},
            {"PMIX_MCA_gds", "hash"},        {"OMPI_MCA_plm", "isolated"}};
  }

  std::string page_;
  std::vector<std::string> shown_;
  test::TempDirectory directory_;
};

TEST_F(Tutorial, ItsProgramHangsAsItSaysAndEndsOnceMended) {
  const auto [source, end] = block(page_, "c");
  compile(source);
  const std::string start = "mpirun --oversubscribe -np 4 ./heat";
  ASSERT_THAT(page_, testing::HasSubstr("\n" + start + "\n"));
  {
    const test::ChildProcess job({shell(start), environment()});
    const std::string pid = std::to_string(job.pid());
    Outcome why;
    const bool hangs = test::eventually(std::chrono::seconds(60), [&] {
      why = run_mqbridge({"why", "--mpirun", pid});
      return why.out.find("DEADLOCK (certain)") != std::string::npos;
    });
    ASSERT_TRUE(hangs) << why.out << why.err << job.out() << job.err();
    std::istringstream said(why.out + "```");
    const auto verdict = between(shown_, "VERDICT", "```");
    EXPECT_THAT(verdict, SizeIs(7));
    EXPECT_EQ(between(comparable_lines(said), "VERDICT", "```"), verdict) << why.out;

    std::istringstream tree(run_mqbridge({"stacks", "--mpirun", pid}).out + "```");
    const auto stacks = between(shown_, " 3 1-3 main", "```");
    EXPECT_THAT(stacks, SizeIs(5));
    EXPECT_EQ(between(comparable_lines(tree), " 3 1-3 main", "```"), stacks);

    std::istringstream queues(run_mqbridge({"dump", "--mpirun", pid, "--rank", "0"}).out);
    EXPECT_THAT(comparable_lines(queues), Contains(" recv pending 1 0 8 B ADDRESS"));
    EXPECT_THAT(shown_, Contains(" recv pending 1 0 8 B ADDRESS"));
  }
  std::string mended = source;
  const std::string line = "    change = step(bar);\n";
  mended.insert(mended.find(line) + line.size(), block(page_, "c", end).first);
  compile(mended);
  const Outcome all = in_directory(start);
  EXPECT_EQ(all.status(), 0) << all.err;
  EXPECT_THAT(all.out, testing::StartsWith("heat in the bar: "));
  EXPECT_THAT(page_, testing::HasSubstr(all.out));
  EXPECT_EQ(in_directory("mpirun --oversubscribe -np 1 ./heat").status(), 0);
}

} // namespace
} // namespace mqbridge::e2e
