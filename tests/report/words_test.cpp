#include "host/report/fitted_text.h"
#include "host/report/table.h"
#include "host/report/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace mqbridge {
namespace {

using testing::ElementsAre;

struct TextCase {
  std::string_view in;
  std::string_view out;
};

TEST(Printable, NothingDrivesTheTerminal) {
  const TextCase cases[] = {
      {"halo row 3", "halo row 3"},
      {"\x1b[2J\x07", "\\x1b[2J\\x07"},
      {"a\tb\nc\x7f", "a\\x09b\\x0ac\\x7f"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xc2\x9b"
       "1m",
       "\\u{009b}1m"},
      {"\xe2\x80\xaeterces", "\\u{202e}terces"},
      {"ra\xe2\x80\x8bnk\xd8\x9c", "ra\\u{200b}nk\\u{061c}"},
      {"\xf3\xa0\x80\xa0", "\\u{e0020}"},
      {"cut\xe2\x82", "cut\\xe2\\x82"},
      {"\xc0\xaf", "\\xc0\\xaf"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf5\x80\x80\x80\xff", "\\xf5\\x80\\x80\\x80\\xff"},
  };
  for (const TextCase& c : cases)
    EXPECT_EQ(printable(c.in), c.out);
}

TEST(Printable, TsvColumnsCanBeReadBack) {
  EXPECT_EQ(tsv_escaped("a\tb\nc\rd\\e\x01"), "a\\tb\\nc\\rd\\\\e\\x01");
}

TEST(Printable, LinesStayLines) {
  EXPECT_EQ(printable_lines("a\nb\x1b\n"), "a\nb\\x1b\n");
}

TEST(Printable, CutsByColumnsNotBytes) {
  EXPECT_EQ(display_width("gr\xc3\xbc\xc3\x9f"), 4U);
  EXPECT_EQ(shortened("/usr/bin/solver", 9), "...solver");
  EXPECT_EQ(clipped("ptrace.denied", 9), "ptrace...");
  EXPECT_EQ(clipped("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4), "\xc3\xbc...");
  EXPECT_EQ(shortened("short", 5), "short");
}

TEST(Units, SizesStayExactWhereTheyCan) {
  const std::pair<std::int64_t, std::string_view> cases[] = {
      {0, "0 B"},
      {8, "8 B"},
      {1023, "1023 B"},
      {1024, "1 KiB"},
      {65537, "65537 B"},
      {4 << 20, "4 MiB"},
      {3LL << 30, "3 GiB"},
      {8'000'000'000, "7.5 GiB"},
      {2LL << 40, "2 TiB"},
      {-1, "-1 B"},
      {9'999'999, "9999999 B"},
  };
  for (const auto& [bytes, text] : cases)
    EXPECT_EQ(size_text(bytes), text);
}

TEST(Units, Durations) {
  EXPECT_EQ(duration_text(0.417), "0.42 ms");
  EXPECT_EQ(duration_text(4.26), "4.3 ms");
  EXPECT_EQ(duration_text(53.4), "53 ms");
  EXPECT_EQ(duration_text(12'340), "12.3 s");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Units, Rates) {
  EXPECT_EQ(rate_text(960), "960 B/s");
  EXPECT_EQ(rate_text(11'520), "11.5 kB/s");
  EXPECT_EQ(rate_text(999'600), "1.0 MB/s");
  EXPECT_EQ(rate_text(112'300'000), "112 MB/s");
  EXPECT_EQ(rate_text(2.5e13), "25000 GB/s");
  EXPECT_EQ(rate_text(std::numeric_limits<double>::infinity()), "?");
}

TEST(Wrap, WordsAndClauses) {
  EXPECT_THAT(wrap_words("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap_words("incomprehensibilities a", 8), ElementsAre("incomprehensibilities", "a"));
  EXPECT_THAT(wrap_words("a\nb", 80), ElementsAre("a", "b"));
  EXPECT_THAT(wrap_words("", 80), ElementsAre());
}

TEST(Wrap, ACommandIsNeverBroken) {
  EXPECT_THAT(wrap_clauses("run as root: sysctl -w kernel.yama.ptrace_scope=0; then again", 30),
              ElementsAre("run as root:", "sysctl -w kernel.yama.ptrace_scope=0;", "then again"));
}

TEST(Table, ColumnsLineUpAndEndWithoutBlanks) {
  Table table({{"N", Align::right}, {"NAME"}, {"END"}}, 100);
  const std::vector<std::vector<Cell>> rows = {{{"1"}, {"\xc3\xbc"}, {"x"}},
                                               {{"1000"}, {"long"}, {""}}};
  for (const auto& row : rows)
    table.fit(row);
  const Paint plain(false);
  EXPECT_EQ(table.titles(plain), "   N  NAME  END");
  EXPECT_EQ(table.line(rows[0], plain), "   1  \xc3\xbc     x");
  EXPECT_EQ(table.line(rows[1], plain), "1000  long");
}

TEST(Table, ColourDoesNotMoveColumns) {
  Table table({{"A"}, {"B"}}, 100);
  const std::vector<Cell> row = {{"ok", Style::good}, {"b"}};
  table.fit(row);
  EXPECT_EQ(table.line(row, Paint(true)), "\033[32mok\033[0m  b");
}

TEST(Table, ColumnsAreLeftOutAndCellsNeverCut) {
  Table table({{"RANK"}, {"HOST", Align::left, 2, 1}, {"MPI", Align::left, 2, 2}, {"STATUS"}}, 30);
  const std::vector<Cell> row = {{"1"}, {"node7"}, {"Open MPI"}, {"FAILED connect.refused"}};
  table.fit(row);
  EXPECT_THAT(table.narrow(), ElementsAre(1, 2));
  EXPECT_EQ(table.titles(Paint(false)), "RANK  STATUS");
  EXPECT_EQ(table.line(row, Paint(false)), "1     FAILED connect.refused");
}

TEST(Table, NoMoreColumnsAreLeftOutThanNeedBe) {
  Table table({{"A"}, {"B", Align::left, 2, 1}, {"C", Align::left, 2, 2}, {"D"}}, 10);
  const std::vector<Cell> row = {{"a"}, {"bb"}, {"cc"}, {"ddd"}};
  table.fit(row);
  EXPECT_THAT(table.narrow(), ElementsAre(2));
  EXPECT_EQ(table.line(row, Paint(false)), "a  bb  ddd");
}

TEST(Table, OneThatFitsIsWhole) {
  Table table({{"A", Align::left, 2, 1}, {"B"}}, 4);
  table.fit({{"1"}, {"2"}});
  EXPECT_TRUE(table.narrow().empty());
}

} // namespace
} // namespace mqbridge
