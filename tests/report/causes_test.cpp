#include "host/document/json_report.h"
#include "host/report/alike_texts.h"
#include "host/report/causes.h"
#include "host/report/text_report.h"
#include "host/report/tsv_report.h"
#include "tests/document/sample_dump.h"
#include "tests/report/report_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::Not;
constexpr auto of_warning = RankError::Level::warning;

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// As host/process/file_matcher.cpp says it.
RankError other_build(int library, RankError::Level level = of_warning) {
  return {"image.build_id", level,
          fmt::format("/s/usr/lib/lib{0}.so.6 is another build than the /usr/lib/lib{0}.so.6 that "
                      "runs: build-id {1:040x} here, {2:040x} in the target",
                      library, 0xabc000 + library, 0xdef000 + library),
          "give a directory tree with the node's own files: --sysroot DIR"};
}

std::vector<RankError> other_builds(int first, int last) {
  std::vector<RankError> errors;
  for (int i = first; i <= last; ++i)
    errors.push_back(other_build(i));
  return errors;
}

/// The part of the text that is about this rank.
std::string part_of(const std::string& text, const std::string& heading) {
  const auto at = text.find("\n" + heading);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find("\n\n", at + 1) - at);
}

std::string errors_of(const std::string& part) {
  const auto at = part.find("  warning ");
  return at == std::string::npos ? "" : part.substr(at);
}

TEST(Causes, LibrariesOfAnotherBuildAreOneWarningInTextAndEachInOtherFormats) {
  Dump dump = ring_dump(1);
  dump.ranks[0].errors = other_builds(1, 37);
  const std::string text = text_of(dump);
  EXPECT_EQ(
      errors_of(part_of(text, "Rank 0")),
      R"(  warning image.build_id: /s/usr/lib/lib1.so.6 is another build than the /usr/lib/lib1.so.6 that
  runs: build-id 0000000000000000000000000000000000abc001 here,
  0000000000000000000000000000000000def001 in the target
  (37 alike: lib1.so.6, lib2.so.6, lib3.so.6 and 34 more; --format json has each)
  fix: give a directory tree with the node's own files: --sysroot DIR
)");
  EXPECT_THAT(text, HasSubstr("ok, 1 warning\n"));
  const auto tsv = written([&](const Sink& sink) { write_tsv(dump, sink); });
  EXPECT_EQ(occurrences(tsv, "image.build_id"), 37U);
  const auto json = written([&](const Sink& sink) { write_json(dump, {}, sink); });
  EXPECT_EQ(occurrences(json, "image.build_id"), 37U);
}

/// As it always was: nothing is said of what there is one of.
TEST(Causes, OneAloneIsTheMessageItself) {
  Dump dump = ring_dump(1);
  dump.ranks[0].errors = {other_build(1)};
  EXPECT_EQ(
      errors_of(part_of(text_of(dump), "Rank 0")),
      R"(  warning image.build_id: /s/usr/lib/lib1.so.6 is another build than the /usr/lib/lib1.so.6 that
  runs: build-id 0000000000000000000000000000000000abc001 here,
  0000000000000000000000000000000000def001 in the target
  fix: give a directory tree with the node's own files: --sysroot DIR
)");
}

TEST(Causes, RanksWithTheSameFilesShareThemInWhateverOrder) {
  Dump dump = ring_dump(2);
  dump.ranks[0].errors = other_builds(1, 37);
  dump.ranks[1].errors = {dump.ranks[0].errors.rbegin(), dump.ranks[0].errors.rend()};
  const std::string text = text_of(dump);
  EXPECT_EQ(occurrences(text, " alike: "), 1U) << text;
  EXPECT_THAT(text, HasSubstr("\nRanks 0,1  warning image.build_id\n"));
  EXPECT_THAT(text, Not(HasSubstr("the others each name")));
}

TEST(Causes, RanksWithOtherFilesSayTheirOwn) {
  Dump dump = ring_dump(2);
  dump.ranks[0].errors = other_builds(1, 37);
  dump.ranks[1].errors = other_builds(30, 41);
  const std::string text = text_of(dump);
  EXPECT_THAT(part_of(text, "Rank 0"),
              HasSubstr("(37 alike: lib1.so.6, lib2.so.6, lib3.so.6 and 34 more; "));
  EXPECT_THAT(part_of(text, "Rank 1"),
              HasSubstr("(12 alike: lib30.so.6, lib31.so.6, lib32.so.6 and 9 more; "));
  EXPECT_THAT(text, Not(HasSubstr("Ranks 0,1  warning")));
}

TEST(Causes, ManyRanksAreARowHoweverManyFilesEachHas) {
  Dump dump = ring_dump(64);
  for (std::size_t i = 0; i < dump.ranks.size(); ++i)
    dump.ranks[i].errors = other_builds(1, 2 + static_cast<int>(i % 40));
  const std::string text = text_of(dump);
  EXPECT_EQ(occurrences(text, "ok, 1 warning\n"), 2U)
      << "one for those that send, one for the others";
}

TEST(Causes, OtherWordsStayApart) {
  Dump dump = ring_dump(1);
  const auto unreadable = [](int file, const char* why) {
    return RankError{"elf.open", of_warning, fmt::format("/s/lib{}.so: {}", file, why), ""};
  };
  dump.ranks[0].errors = {unreadable(1, "Permission denied"), unreadable(2, "No such file"),
                          unreadable(3, "Permission denied")};
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("  warning elf.open: /s/lib1.so: Permission denied\n"
                              "  (2 alike: lib1.so, lib3.so; --format json has each)\n"
                              "  warning elf.open: /s/lib2.so: No such file\n"));
  EXPECT_THAT(text, HasSubstr("ok, 2 warnings\n"));
  dump.ranks[0].errors[2].hint = "chmod";
  EXPECT_THAT(text_of(dump), Not(HasSubstr("alike"))) << "another thing helps there";
}

TEST(Causes, ManyWordingsOfAWarningAreCounted) {
  Dump dump = ring_dump(1);
  for (const char* said : {"a", "b", "c", "d", "e", "f", "g"})
    dump.ranks[0].errors.push_back(
        {"dll.message", of_warning, fmt::format("dll.so says: {}", said), ""});
  EXPECT_THAT(text_of(dump), HasSubstr("  warning dll.message: dll.so says: c\n"
                                       "  warning dll.message: dll.so says: d\n"
                                       "  (3 more in other words; --format json has each)\n"));
  EXPECT_THAT(text_of(dump), HasSubstr("ok, 7 warnings\n"));
  EXPECT_THAT(text_of(dump), Not(HasSubstr("says: e")));
  Dump two = ring_dump(2);
  two.ranks[0].errors = two.ranks[1].errors = dump.ranks[0].errors;
  EXPECT_EQ(occurrences(text_of(two), "Ranks 0,1  warning dll.message\n"), most_wordings);
  two.ranks[1].errors.back().message = "dll.so says: z";
  EXPECT_EQ(occurrences(text_of(two), "Ranks 0,1  warning dll.message\n"), most_wordings - 1);
  EXPECT_EQ(occurrences(text_of(two), "3 more in other words"), 2U) << "not the same three";
}

TEST(Causes, ErrorsAreNotHiddenByWarningsNorByEachOther) {
  Dump dump = ring_dump(1);
  RankDump& rank = dump.ranks[0];
  rank.status = RankStatus::failed;
  rank.errors = other_builds(1, 9);
  rank.errors.push_back(other_build(10, RankError::Level::error));
  std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("\n  /s/usr/lib/lib10.so.6 is another build")) << "below the heading";
  EXPECT_THAT(text, HasSubstr("  warning image.build_id: /s/usr/lib/lib1.so.6 is another"));
  EXPECT_THAT(text, HasSubstr("(9 alike: "));
  rank.errors = {};
  for (const char* word : {"one", "two", "three", "four", "five", "six", "seven"})
    rank.errors.push_back({"walk.failed", RankError::Level::error, word, ""});
  text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("\n  walk.failed: six\n  walk.failed: seven\n"));
}

TEST(Causes, OfNoRankAreOne) {
  Dump dump = ring_dump(1);
  for (int i = 0; i < 4; ++i)
    dump.errors.push_back({"rank.twice", of_warning,
                           fmt::format("ssh:n17:{}: two targets are given as rank {}; it is "
                                       "looked at once",
                                       4000 + i, i),
                           "look at one node after the other"});
  EXPECT_THAT(text_of(dump),
              testing::EndsWith(
                  "\nOf no rank\n"
                  "  warning rank.twice: ssh:n17:4000: two targets are given as rank 0; it is "
                  "looked at once\n"
                  "  (4 alike: ssh:n17:4000, ssh:n17:4001, ssh:n17:4002 and 1 more; --format json "
                  "has each)\n"
                  "  fix: look at one node after the other\n"));
}

TEST(Causes, LinesFitWhateverTheNames) {
  Dump dump = ring_dump(1);
  for (char c = 'a'; c < 'g'; ++c)
    dump.ranks[0].errors.push_back(
        {"elf.open", of_warning, fmt::format("/{}\x1b/{}.so: bad", c, std::string(200, c)), ""});
  for (const std::size_t width : {60U, 80U, 100U}) {
    const std::string text = text_of(dump, {.width = width});
    EXPECT_THAT(text, HasSubstr("  (6 alike: ...aaaaaa"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const bool is_path = line.find("/a\\x1b/aaa") != std::string::npos; // it is not cut
      EXPECT_TRUE(is_path || line.size() <= width) << line;
    }
  }
}

TEST(Causes, ChecksOfTheDoctorAreOneToo) {
  Checklist list{"local:1", {}, true};
  for (const RankError& error : other_builds(1, 37))
    list.checks.push_back({Check::Level::limit, "MPI", error.message, {error.hint}});
  list.checks.push_back({Check::Level::fault, "MPI", list.checks[0].text, {"another fix"}});
  EXPECT_EQ(written([&](const Sink& sink) { write_text(list, TextOptions(), sink); }),
            R"(mqbridge doctor local:1                           1 FAULT, 1 LIMIT: queues readable
LIMIT  MPI        /s/usr/lib/lib1.so.6 is another build than the /usr/lib/lib1.so.6 that runs:
                  build-id 0000000000000000000000000000000000abc001 here,
                  0000000000000000000000000000000000def001 in the target
                  (37 alike: lib1.so.6, lib2.so.6, lib3.so.6 and 34 more; mqbridge dump --format
                  json has each)
       fix        give a directory tree with the node's own files: --sysroot DIR
FAULT  MPI        /s/usr/lib/lib1.so.6 is another build than the /usr/lib/lib1.so.6 that runs:
                  build-id 0000000000000000000000000000000000abc001 here,
                  0000000000000000000000000000000000def001 in the target
       fix        another fix
)");
}

TEST(AlikeTexts, DifferInNamesAlone) {
  const std::pair<const char*, const char*> alike[] = {
      {"open /a/b.so: bad", "open /lib/c.so: bad"},
      {"(build-id 0123456789abcdef0123)", "(build-id fedcba9876543210abcd)"},
      {"request 0x7f1c4b001010 is bad", "request 0x55d0c0ffee00 is bad"},
      {"thread 17 has ended.", "thread 4 has ended."},
      {"n17:7001@41822 is there", "ssh:n18:41823 is there"}};
  for (const auto& [one, other] : alike)
    EXPECT_EQ(frame_of(one), frame_of(other)) << one;
  const std::pair<const char*, const char*> apart[] = {
      {"it ends after 17 bytes", "it ends after 18 bytes"},
      {"status 1", "status 127"},
      {"byte 0x7f, not 0x45", "byte 0x7f, not 0x46"},
      {"open /a/b.so: bad", "open /a/b.so, bad"},
      {"open /a/b.so: bad", "open /a/b.so /a/c.so: bad"},
      {"a\nb", "a b"},
      {"", " "}};
  for (const auto& [one, other] : apart)
    EXPECT_NE(frame_of(one), frame_of(other)) << one;
}

TEST(AlikeTexts, AreNamedByWhatDiffersMost) {
  EXPECT_EQ(alike_line({"a", "a"}), "2 alike");
  EXPECT_EQ(alike_line({"/x/a needs /y/1", "/x/a needs /y/2", "/x/b needs /y/3"}),
            "3 alike: 1, 2, 3");
  EXPECT_EQ(alike_line({"/x/a: bad", "/y/a: bad"}), "2 alike: /x/a, /y/a")
      << "not told by the last part";
  EXPECT_EQ(alike_line({"/x/ bad", "/x/a bad"}), "2 alike: /x/, /x/a");
}

} // namespace
} // namespace mqbridge::test
