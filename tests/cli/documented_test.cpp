// The command lines of README.md and docs/: each is one that mqbridge takes. README's example and
// the tutorial's are run, and what they print is compared (Readme.* and Tutorial.*); of the others
// the words are.

#include "host/cli/arguments/parse.h"
#include "host/disk/text_file.h"
#include "host/launch/shell_words.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <regex>
#include <sstream>

namespace mqbridge::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pages() {
  const fs::path root = MQBRIDGE_SOURCE_DIRECTORY;
  std::vector<fs::path> all{root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md")
      all.push_back(entry.path());
  return all;
}

/// The lines of a page's blocks of code; one that ends with a backslash goes on in the next.
std::vector<std::string> lines_of_code(const std::string& page) {
  std::vector<std::string> lines;
  std::istringstream in(page);
  bool in_block = false;
  bool goes_on = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      in_block = !in_block;
      continue;
    }
    if (!in_block)
      continue;
    const bool is_cut = line.ends_with('\\');
    if (is_cut)
      line.pop_back();
    if (goes_on)
      lines.back() += line;
    else
      lines.push_back(line);
    goes_on = is_cut;
  }
  return lines;
}

/// The words behind "mqbridge", up to a comment or another command of the shell; empty where the
/// line is none, but output, or a form with [options].
std::string arguments_in(const std::string& line) {
  static const std::regex command(
      R"((?:^|^\$ |[|;&] |\bexec |\bsudo )(?:\S*/)?mqbridge ([a-z]+ ?.*))");
  static const std::regex output(R"(^[a-z]+ {3,})");
  std::smatch found;
  if (!std::regex_search(line, found, command))
    return {};
  std::string words = found[1];
  if (std::regex_search(words, output))
    return {};
  for (const auto* end : {" #", "   ", " | ", " || ", " && ", ";", " > ", " 2>"})
    words = words.substr(0, words.find(end));
  for (const auto* part_of_a_form : {"[options]", "...", "$("})
    if (words.find(part_of_a_form) != std::string::npos)
      return {};
  return words;
}

TEST(Documented, CommandsAreOnesThatMqbridgeTakes) {
  std::size_t commands = 0;
  for (const auto& page : pages()) {
    const auto text = read_text_file(page.native(), std::size_t{1} << 20);
    ASSERT_TRUE(text) << page;
    for (const auto& line : lines_of_code(*text)) {
      const auto written = arguments_in(line);
      const auto words = split_words("documented", written);
      ASSERT_TRUE(words) << page << ": " << line;
      if (words->empty())
        continue;
      ++commands;
      std::vector<const char*> arguments;
      for (const auto& word : *words)
        arguments.push_back(word.c_str());
      const auto command = parse_command_line(arguments, "");
      // What is named need not be on this host.
      const bool is_taken = command || command.error().code.starts_with("targets.") ||
                            command.error().code == "target.no_process" ||
                            command.error().message.find("No such file") != std::string::npos;
      EXPECT_TRUE(is_taken) << page << ": " << line << "\n" << command.error().message;
    }
  }
  EXPECT_GT(commands, 60U);
}

} // namespace
} // namespace mqbridge::test
