// What README.md and its picture show of the demo's job is what the demo prints.

#include "tests/e2e/harness/mqbridge_run.h"

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

} // namespace
} // namespace mqbridge::e2e
