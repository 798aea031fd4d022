#include "host/disk/command_output.h"
#include "host/launch/shell_words.h"
#include "rsp/packet/printable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Words, AreSplitAsAShellDoesAndNothingIsExpanded) {
  const auto words = [](std::string_view text) { return split_words("--x", text).value(); };
  EXPECT_THAT(words(""), IsEmpty());
  EXPECT_THAT(words(" \t\n"), IsEmpty());
  EXPECT_THAT(words(" nsenter  -t {pid}\t-a "), ElementsAre("nsenter", "-t", "{pid}", "-a"));
  EXPECT_THAT(words("a'b c'd \"e f\"''"), ElementsAre("ab cd", "e f"));
  EXPECT_THAT(words(R"(a\ b "c\"d" 'e\f' '')"), ElementsAre("a b", "c\"d", "e\\f", ""));
  EXPECT_THAT(words("$HOME *.c `id` $(id);x"), ElementsAre("$HOME", "*.c", "`id`", "$(id);x"));
  for (const std::string_view open : {"'a", "a \"b", "a\\", "\"a\\"}) {
    const auto refused = split_words("--node-command", open);
    ASSERT_FALSE(refused) << open;
    EXPECT_EQ(refused.error().code, "usage.value");
    EXPECT_THAT(refused.error().message, testing::HasSubstr("--node-command"));
  }
}

/// What a real shell makes of them.
TEST(Words, AShellGetsEachAsItIs) {
  const std::vector<std::string> words{
      "plain-1.2/x:y=z@,%+_", "",        "two words", "it's",
      "$HOME $(id) `id` \\",  "-o;rm *", "a\nb\t",    "\xc3\xa9\xff"};
  const auto said =
      run_command({"sh", "-c", "printf '[%s]' " + join_words(words)}, std::chrono::seconds(5));
  ASSERT_TRUE(said) << said.error().message;
  std::string expected;
  for (const auto& word : words)
    expected += "[" + word + "]";
  EXPECT_EQ(said->text, expected);
}

/// A target may name its files as it likes. Whoever pastes a command line runs nothing of it.
TEST(Words, OfALineToPasteAShellGetsEachAsItIsShown) {
  for (const std::string_view name :
       {"/usr/lib/libmpi.so", "/tmp/$(touch /tmp/x)", "/tmp/`id`;reboot", "it's \"here\"",
        "/tmp/a\nfix: rm -rf /", "-rf", "\x1b[2J"}) {
    const auto said =
        run_command({"sh", "-c", "printf '[%s]' " + pasteable(name)}, std::chrono::seconds(5));
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_EQ(said->text, "[" + printable(name) + "]");
  }
  EXPECT_EQ(pasteable("/usr/lib/libmpi.so"), "/usr/lib/libmpi.so");
}

} // namespace
} // namespace mqbridge
