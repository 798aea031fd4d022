#include "host/job/quoted_words.h"
#include "host/job/targets_file.h"
#include "host/mqs/dll_policy.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace mqbridge {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Result<std::vector<TargetSpec>> parse(std::string_view text) {
  return parse_targets(text, "jobs/ranks.txt");
}

/// The message of the error that `text` is.
std::string faults_of(std::string_view text) {
  const auto parsed = parse(text);
  return parsed ? "no error" : parsed.error().message;
}

std::vector<std::string> words(std::string_view line) {
  const auto split = split_target_line(line);
  if (!split)
    return {fmt::format("fault at {}", split.error().column)};
  std::vector<std::string> texts;
  for (const auto& word : *split)
    texts.push_back(fmt::format("{}@{}", word.text, word.column));
  return texts;
}

TEST(QuotedWords, AreSplitAtBlanksOutsideOfQuotes) {
  EXPECT_THAT(words("3 n7:7001\tjob=a"), ElementsAre("3@1", "n7:7001@3", "job=a@11"));
  EXPECT_THAT(words(R"(- "exec:ssh n7 \"a b\" \\x"  k="/a b"c)"),
              ElementsAre("-@1", R"(exec:ssh n7 "a b" \x@3)", "k=/a bc@30"));
  EXPECT_THAT(words(R"(C:\x "" #rest "of it)"), ElementsAre(R"(C:\x@1)", "@6"));
  EXPECT_THAT(words("a#b"), ElementsAre("a#b@1"));
  EXPECT_THAT(words("\"\xc3\xa4 \xc3\xb6\" x"), ElementsAre("\xc3\xa4 \xc3\xb6@1", "x@7"))
      << "columns are characters";
  EXPECT_THAT(words("  # nothing"), ElementsAre());
}

TEST(QuotedWords, WithoutAnEndAreNamedByTheirBeginning) {
  EXPECT_THAT(words(R"(1 "abc)"), ElementsAre("fault at 3"));
  EXPECT_THAT(words(R"(1 a"abc\")"), ElementsAre("fault at 4"));
  EXPECT_THAT(words(R"(1 "a\n")"), ElementsAre("fault at 5"));
  EXPECT_THAT(words(R"(1 "a\)"), ElementsAre("fault at 5"));
}

TEST(TargetsFile, ALineIsARankATargetAndKeys) {
  const auto targets =
      parse("# made by hand\r\n"
            "\n"
            "0 node7:7001 job=a sysroot=/ sysroot=/usr types=x.types dll=/l/d.so\r\n"
            "  1\tlocal:4711   # the second one\n"
            "- core:/tmp/core.9 \"node-command=nsenter -t {pid} -a\"");
  ASSERT_TRUE(targets) << targets.error().message;
  ASSERT_EQ(targets->size(), 3U);
  const auto& first = targets->front();
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.text(), "node7:7001");
  EXPECT_EQ(first.keys.job, "a");
  EXPECT_THAT(first.keys.sysroots, ElementsAre("/", "/usr"));
  EXPECT_THAT(first.keys.types, ElementsAre("jobs/x.types")) << "relative to the file";
  EXPECT_EQ(first.keys.dll, "/l/d.so");
  EXPECT_EQ((*targets)[1].rank, 1);
  EXPECT_EQ((*targets)[1].text(), "local:4711");
  EXPECT_EQ((*targets)[1].keys, TargetKeys());
  EXPECT_EQ((*targets)[2].rank, std::nullopt);
  EXPECT_EQ((*targets)[2].keys.node_command, "nsenter -t {pid} -a");
}

TEST(TargetsFile, SameRankOfOtherJobsIsAnotherRank) {
  EXPECT_TRUE(parse("0 n:1 job=a\n0 n:2 job=b\n0 n:3\n- n:4\n- n:5\n"));
  EXPECT_TRUE(parse("0 exec:x\n1 exec:x\n")) << "a command may lead elsewhere each time";
}

struct Fault {
  const char* text;
  std::vector<std::string> said;
};

void PrintTo(const Fault& fault, std::ostream* stream) {
  *stream << fault.text;
}

class TargetsFault : public testing::TestWithParam<Fault> {};

TEST_P(TargetsFault, IsNamedByLineAndColumnWithWhatToWrite) {
  const auto message = faults_of(GetParam().text);
  for (const auto& said : GetParam().said)
    EXPECT_THAT(message, HasSubstr(said));
}

INSTANTIATE_TEST_SUITE_P(
    , TargetsFault,
    testing::Values(
        Fault{"node7:7001", {"ranks.txt:1:1: no rank", "write: - node7:7001"}},
        Fault{"3=node7:7001 job=a", {"ranks.txt:1:1: no rank", "write: 3 node7:7001"}},
        Fault{"x node7:7001", {"ranks.txt:1:1: \"x\" is no rank", "or - where"}},
        Fault{"-1 n:1", {"\"-1\" is no rank"}},
        Fault{"99999999999 n:1", {"\"99999999999\" is no rank"}},
        Fault{"\n 7", {"ranks.txt:2:2: no target", "7 ssh:"}},
        Fault{"0 node7", {"ranks.txt:1:3: 'node7'", "the port is missing", "write HOST:PORT"}},
        Fault{"0 3=n:1", {"ranks.txt:1:3: 3= is a second rank", "write: n:1"}},
        Fault{"- local:3,4", {"ranks.txt:1:3:", "a line of its own for each process"}},
        Fault{"0 n:1 sysrot=/", {"ranks.txt:1:7: the key \"sysrot\"", "did you mean sysroot=?"}},
        Fault{"0 n:1 node_command=x", {"did you mean node-command=?"}},
        Fault{"0 n:1 colour=red", {"\"colour\" is not known", "the keys are job, sysroot"}},
        Fault{"0 n:1 =red", {"\"\" is not known", "the keys are job, sysroot"}},
        Fault{"0 n:1 job", {"\"job\" is no key=value"}},
        Fault{"0 n:1 job= a", {"nothing stands behind job="}},
        Fault{"0 n:1 job=a job=b", {"ranks.txt:1:13: a second job="}},
        Fault{"0 n:1 dll=a dll=b", {"ranks.txt:1:13: a second dll="}},
        Fault{"0 n:1 node-command='a", {"ranks.txt:1:7: node-command 'a: a quote is not closed"}},
        Fault{"0 n:1 sysroot=nowhere", {"jobs/nowhere is no directory", "this file's directory"}},
        Fault{"0 exec:ssh n7 gdbserver", {"1:12: \"n7\"", "in quotes: \"exec:COMMAND\""}},
        Fault{"0 \"n:1", {"ranks.txt:1:3: the quote", "closing"}},
        Fault{"0 n:1\n0 n:2", {"ranks.txt:2:1: rank 0 stands in line 1 already"}},
        Fault{"0 n:1 job=a\n0 n:2 job=a", {"ranks.txt:2:1: rank 0 of job a"}},
        Fault{"0 n:1\n1 n:1", {"ranks.txt:2:1: n:1 is the process of line 1"}}),
    [](const auto& fault) { return fmt::format("Fault{}", fault.index); });

TEST(TargetsFile, AllItsFaultsAreSaidAtOnce) {
  EXPECT_THAT(faults_of("x node7 sysrot=/\n7\n0 n:1\nn:9 typs=x\n"),
              AllOf(HasSubstr("6 faults"), HasSubstr(":1:1:"), HasSubstr(":1:3:"),
                    HasSubstr(":1:9:"), HasSubstr(":2:1:"), Not(HasSubstr("txt:3:")),
                    HasSubstr(":4:1:"), HasSubstr(":4:5:")));
}

TEST(TargetsFile, OfThousandsOfFaultsTwentyAreShown) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += "x n:1\n";
  const auto message = faults_of(text);
  EXPECT_THAT(message, AllOf(HasSubstr("5000 faults"), HasSubstr("ranks.txt:20:1"),
                             Not(HasSubstr("ranks.txt:21:1")), HasSubstr("and 4980 more")));
}

TEST(TargetsFile, ThatIsNoTextIsSaid) {
  const auto parsed = parse(std::string_view("0 n:1\n1 n\0:2\n", 13));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, "targets.not_text");
  EXPECT_THAT(parsed.error().message, HasSubstr("ranks.txt:2:4: "));
  EXPECT_EQ(parse("0 n:1 job=\x1b[2J").error().code, "targets.not_text");
  EXPECT_EQ(parse("0 n:1\r1 n:2\r").error().code, "targets.not_text");
}

TEST(TargetsFile, WithoutTargetsIsAnError) {
  for (const char* text : {"", "\n\n", "# nothing\n", "\xef\xbb\xbf"})
    EXPECT_EQ(parse(text).error().code, "targets.empty") << text;
  EXPECT_TRUE(parse("\xef\xbb\xbf"
                    "0 n:1"))
      << "a byte order mark";
}

TEST(TargetsFile, ALineOfMegabytesIsRefusedAndNotRepeated) {
  const auto message = faults_of("0 n:1\n1 exec:" + std::string(8 << 20, 'x'));
  EXPECT_THAT(message, HasSubstr("ranks.txt:2:1: the line has 8388615 bytes"));
  const auto long_word = faults_of("0 " + std::string(60'000, 'x'));
  EXPECT_LT(long_word.size(), 2000U);
}

TEST(TargetsFile, HasSoManyTargetsAtMost) {
  std::string text;
  for (std::size_t i = 0; i <= most_targets; ++i)
    text += "- exec:x\n";
  EXPECT_EQ(parse(text).error().code, "targets.too_large");
}

class TargetsOnDisk : public testing::Test {
protected:
  std::filesystem::path write(std::string_view text) const {
    std::ofstream(directory_ / "ranks.txt") << text;
    return directory_ / "ranks.txt";
  }
  test::TempDirectory directory_;
};

TEST_F(TargetsOnDisk, PathsInKeysBeginAtTheFile) {
  std::filesystem::create_directory(directory_ / "root");
  const auto targets = read_targets_file(write("0 n:1 sysroot=root dll=x.so"));
  ASSERT_TRUE(targets) << targets.error().message;
  EXPECT_THAT(targets->front().keys.sysroots, ElementsAre(directory_ / "root"));
  EXPECT_EQ(targets->front().keys.dll, directory_ / "x.so");
}

TEST_F(TargetsOnDisk, NoneIsNoFileUnlessItsPathIsGiven) {
  const auto targets = read_targets_file(write("0 n:1 dll=none\n1 n:2 dll=./none"));
  ASSERT_TRUE(targets) << targets.error().message;
  EXPECT_EQ(targets->front().keys.dll, DllPolicy::none);
  EXPECT_EQ(targets->back().keys.dll, directory_ / "./none");
  const auto text = targets_text(*targets).value();
  EXPECT_THAT(text, HasSubstr("dll=none\n"));
  EXPECT_THAT(text, HasSubstr("dll=" + (directory_ / "./none").string()));
}

TEST_F(TargetsOnDisk, WhatIsNoRegularFileIsNotRead) {
  const auto fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::filesystem::path& path :
       {fifo, directory_.path(), std::filesystem::path("/dev/zero"), directory_ / "none"}) {
    const auto targets = read_targets_file(path);
    ASSERT_FALSE(targets);
    EXPECT_EQ(targets.error().code, "targets.open");
    EXPECT_THAT(targets.error().message, HasSubstr(path.string()));
  }
}

TEST_F(TargetsOnDisk, AFileOfHolesIsTooLarge) {
  const auto path = write("");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_EQ(read_targets_file(path).error().code, "targets.too_large");
}

TEST(TargetsText, IsReadBackAsItWas) {
  std::vector<TargetSpec> targets;
  int rank = 0;
  for (const char* text :
       {"node7:7001", "[::1]:7001@42", "unix:/tmp/a b/so\"ck\\et#1@7", "serial:/dev/ttyUSB0:9600",
        "local:4711", "exec:ssh -T n7 'gdbserver --once \"x\"'\t# no comment",
        "core:/tmp/\xc3\xa4 1", "core:/tmp/c@/bin/x y",
        "exec:"
        "\\"}) {
    targets.push_back(TargetSpec::parse(text).value());
    targets.back().rank = rank++;
  }
  targets[1].rank = std::nullopt;
  targets[2].keys = {"#job \"1\"", {"/", "/usr"}, {"/x y.types", "/z"}, "/d \\.so", "a {pid} b"};
  const auto text = targets_text(targets);
  ASSERT_TRUE(text) << text.error().message;
  const auto again = parse(*text);
  ASSERT_TRUE(again) << again.error().message << *text;
  ASSERT_EQ(again->size(), targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    EXPECT_EQ((*again)[i].rank, targets[i].rank);
    EXPECT_EQ((*again)[i].text(), targets[i].text());
    EXPECT_EQ((*again)[i].keys, targets[i].keys);
    EXPECT_EQ((*again)[i].where.index(), targets[i].where.index());
  }
}

TEST(TargetsText, RefusesWhatNoLineHolds) {
  auto target = TargetSpec::parse("exec:one\ntwo").value();
  EXPECT_EQ(targets_text(std::span(&target, 1)).error().code, "targets.unwritable");
  target = TargetSpec::parse("n:1").value();
  target.keys.job = "a\x1b[2J";
  EXPECT_EQ(targets_text(std::span(&target, 1)).error().code, "targets.unwritable");
}

} // namespace
} // namespace mqbridge
