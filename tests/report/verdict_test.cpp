// The verdict as text, of analyses made by hand.

#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string verdict(const Analysis& analysis, TextOptions options = {}) {
  Dump dump = ring_dump(4);
  dump.analysis = analysis;
  return written([&](const Sink& sink) { write_verdict(dump, options, sink); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

Wait wait_of(std::int64_t rank, std::string because, std::string place = "halo.c:212") {
  Wait wait;
  wait.rank = rank;
  wait.because = std::move(because);
  wait.place = std::move(place);
  return wait;
}

Analysis cycle() {
  Analysis analysis;
  analysis.verdict = Verdict::deadlock;
  analysis.confidence = Confidence::likely;
  analysis.core = {{0, 3, 1}};
  analysis.blocked = {{4, 511, 1}};
  analysis.unchanged_ms = 5000;
  for (const std::int64_t rank : {0, 1, 2, 3})
    analysis.waits.push_back(
        wait_of(rank, fmt::format("MPI_Recv from {} tag 17 on C1", (rank + 3) % 4)));
  for (std::int64_t rank = 4; rank < 512; ++rank)
    analysis.waits.push_back(wait_of(rank, "MPI_Barrier on C1", "main.c:9"));
  analysis.findings = {
      {FindingKind::cycle, {{0, 0, 1}, {3, 1, -1}}, "0 -> 3 -> 2 -> 1 -> 0"},
      {FindingKind::tag_mismatch, {{3, 3, 1}}, "rank 3: MPI_Isend to 0 tag 71 pending"}};
  analysis.look_at = {"rank 3: MPI_Isend to 0 tag 71 pending"};
  analysis.not_visible = {"unexpected queue", "eager sends"};
  return analysis;
}

TEST(VerdictText, IsThatOfTheContract) {
  EXPECT_EQ(verdict(cycle()),
            R"(VERDICT  DEADLOCK (likely): 4 ranks in a cycle, 508 wait behind; unchanged over 5.0 s
cycle    0 -> 3 -> 2 -> 1 -> 0
  rank 0  MPI_Recv from 3 tag 17 on C1   halo.c:212
  rank 3  MPI_Recv from 2 tag 17 on C1   halo.c:212
  rank 2  MPI_Recv from 1 tag 17 on C1   halo.c:212
  rank 1  MPI_Recv from 0 tag 17 on C1   halo.c:212
look at  rank 3: MPI_Isend to 0 tag 71 pending
behind   ranks 4-511 in MPI_Barrier on C1 at main.c:9: waiting, not the cause
unseen   unexpected queue, eager sends
names    C1 MPI_COMM_WORLD
)");
}

TEST(VerdictText, NamesTheCommunicatorsThatItMentionsWhereNoListFollows) {
  Dump dump = ring_dump(4);
  dump.analysis = cycle();
  dump.analysis->waits[0].because = "MPI_Recv from 3 tag 17 on C2";
  dump.analysis->waits[1].because = "MPI_Recv from 0 tag 17 on C3";
  dump.analysis->waits[2].because = "MPI_Recv from 1 tag 17 on C4";
  const auto text = [&](const TextOptions& options) {
    return written([&](const Sink& sink) { write_text(dump, options, sink); });
  };
  for (RankDump& rank : dump.ranks) {
    rank.communicators.front().id = {};
    rank.communicators.front().context = 0;
    for (const auto& [key, name] : {std::pair{"C2", "MPI COMMUNICATOR 5 DUP FROM 0"},
                                    {"C3", "MPI COMMUNICATOR 6 DUP FROM 5"},
                                    {"C4", ""},
                                    {"C11", "not mentioned"}}) {
      Communicator other = rank.communicators.front();
      other.key = key;
      other.name = name;
      rank.communicators.push_back(other);
    }
  }
  EXPECT_THAT(text({.summary = true, .width = 120}),
              HasSubstr("\nnames    C1 MPI_COMM_WORLD, C2 a duplicate of C1 MPI_COMM_WORLD, C3 MPI "
                        "COMMUNICATOR 6 DUP FROM 5\n"));
  EXPECT_THAT(text({}), Not(HasSubstr("\nnames ")));
}

TEST(VerdictText, StandsBelowTheTableOfADumpAndNotOnADumpWithout) {
  Dump dump = ring_dump(4);
  const auto text = [&] { return written([&](const Sink& sink) { write_text(dump, {}, sink); }); };
  EXPECT_THAT(text(), Not(HasSubstr("VERDICT")));
  dump.analysis = cycle();
  const auto with = text();
  EXPECT_GT(with.find("VERDICT"), with.find("RANK HOST"));
  EXPECT_LT(with.find("unseen   unexpected queue, eager sends\n"), with.find("Rank 0  "));
  EXPECT_THAT(written([&](const Sink& sink) { write_stacks(dump, {}, sink); }),
              Not(HasSubstr("VERDICT")));
}

TEST(VerdictText, SaysAWaitThatIsNotVisibleOnce) {
  Analysis analysis;
  analysis.verdict = Verdict::undecided;
  analysis.findings = {{FindingKind::unknown_wait,
                        {{0, 2, 1}},
                        "ranks 0-2: not visible: what MPI_Allreduce waits for"}};
  analysis.not_visible = {"send queue", "what MPI_Allreduce waits for of ranks 0-2",
                          "what MPI_Wait waits for of rank 3"};
  EXPECT_THAT(verdict(analysis),
              HasSubstr("\nunseen   send queue, what MPI_Wait waits for of rank 3\n"));
}

TEST(WhyText, IsTheVerdictAloneInAFewLines) {
  Dump dump = ring_dump(4);
  dump.analysis = cycle();
  const auto why = [&](TextOptions options) {
    return written([&](const Sink& sink) { write_why(dump, options, sink); });
  };
  EXPECT_EQ(why({}), "mqbridge why   4 ranks, 4 complete\n\n" + verdict(cycle()));
  for (int i = 0; i < 30; ++i)
    dump.analysis->findings.push_back(
        {FindingKind::backlog, {{i, i, 1}}, fmt::format("rank {} has 300 messages", i)});
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  dump.analysis->look_at.assign(12, "rank 3: MPI_Isend to 0 tag 71 pending");
  EXPECT_EQ(lines(why({})), 25);
  EXPECT_THAT(why({}), ContainsRegex("\n\\.\\.\\. [0-9]+ lines more: --full\n$"));
  EXPECT_GT(lines(why({.full = true})), 50);
}

TEST(WhyText, WithoutAVerdictSaysWhatWentWrong) {
  Dump dump = ring_dump(1);
  dump.ranks[0].status = RankStatus::failed;
  dump.ranks[0].errors = {{"attach.refused", RankError::Level::error, "cannot attach", "mend it"}};
  EXPECT_THAT(written([&](const Sink& sink) { write_why(dump, {}, sink); }),
              AllOf(HasSubstr("1 FAILED"), HasSubstr("attach.refused"), HasSubstr("fix: mend it")));
}

TEST(VerdictText, OfNoDeadlockSaysWhatWasNotSeenAndWhoComputes) {
  Analysis analysis;
  analysis.verdict = Verdict::no_deadlock;
  analysis.confidence = Confidence::certain;
  analysis.findings = {{FindingKind::straggler, {{2, 2, 1}}, "rank 2: compute at solve.c:41"}};
  analysis.not_visible = {"eager sends"};
  EXPECT_EQ(verdict(analysis), R"(VERDICT    no deadlock (certain)
straggler  rank 2: compute at solve.c:41
unseen     eager sends
)");
}

TEST(VerdictText, UndecidedNamesTheUnknowns) {
  Analysis analysis;
  analysis.findings = {{FindingKind::unknown_wait, {{1, 1, 1}}, "rank 1: MPI_Win_fence"}};
  analysis.not_visible = {"rank 3 was not dumped"};
  EXPECT_EQ(verdict(analysis),
            R"(VERDICT  UNDECIDED: what ranks wait for is not known, see below
unknown  rank 1: MPI_Win_fence
unseen   rank 3 was not dumped
)");
}

TEST(VerdictText, OfASingleJobItsNameDoesNotMatter) {
  Analysis analysis = cycle();
  for (Wait& wait : analysis.waits)
    wait.job_id = "4711";
  EXPECT_EQ(verdict(analysis), verdict(cycle()));
}

TEST(VerdictText, RanksInLikeWordsAreOneLine) {
  Analysis analysis = cycle();
  analysis.waits.clear();
  for (const std::int64_t rank : {0, 1, 2, 3})
    analysis.waits.push_back(wait_of(rank, "MPI_Recv from any tag 5 on C1"));
  analysis.findings = {{FindingKind::knot, {{0, 3, 1}}, "0-3"}};
  analysis.blocked.clear();
  const auto text = verdict(analysis);
  EXPECT_THAT(text, HasSubstr("4 ranks in a knot; unchanged"));
  EXPECT_THAT(text, HasSubstr("\n  ranks 0-3  MPI_Recv from any tag 5 on C1   halo.c:212\n"));
}

TEST(VerdictText, ACoreInNoCycleHasItsLines) {
  Analysis analysis = cycle();
  analysis.core = {{2, 2, 1}};
  analysis.blocked.clear();
  analysis.look_at.clear();
  analysis.findings = {{FindingKind::partner_gone, {{2, 2, 1}}, "rank 1 has exited"}};
  const auto text = verdict(analysis);
  EXPECT_THAT(text, HasSubstr("DEADLOCK (likely): 1 rank can never go on"));
  EXPECT_THAT(text, HasSubstr("\n  rank 2  MPI_Recv from 1 tag 17 on C1   halo.c:212\n"));
  EXPECT_THAT(text, HasSubstr("\ngone     rank 1 has exited\n"));
}

TEST(VerdictText, BlockedRanksAreFoldedByTheirCall) {
  Analysis analysis = cycle();
  for (Wait& wait : analysis.waits)
    if (wait.rank >= 4)
      wait.because = fmt::format("MPI_Recv from {} tag {} on C2", wait.rank - 1, wait.rank);
  EXPECT_THAT(verdict(analysis), HasSubstr("\nbehind   ranks 4-511 in MPI_Recv on C2 at main.c:9: "
                                           "waiting, not the cause\n"));
}

TEST(VerdictText, SeveralJobsAreToldApart) {
  Analysis analysis = cycle();
  analysis.blocked.clear();
  analysis.by_job = {{"1:a", {{{0, 1, 1}}, {}}}, {"2:b", {{{0, 0, 1}}, {{1, 1, 1}}}}};
  analysis.findings = {{FindingKind::cycle, {{0, 1, 1}}, "0 -> 1 -> 0", "1:a"}};
  analysis.waits = {wait_of(0, "MPI_Recv from 1"), wait_of(1, "MPI_Recv from 0"),
                    wait_of(0, "MPI_Probe from 0"), wait_of(1, "MPI_Barrier")};
  for (std::size_t i = 0; i < analysis.waits.size(); ++i)
    analysis.waits[i].job_id = i < 2 ? "1:a" : "2:b";
  const auto text = verdict(analysis);
  EXPECT_THAT(text, HasSubstr("3 ranks can never go on, 2 of them in a cycle, 1 waits behind"));
  EXPECT_THAT(text, HasSubstr("\ncycle    job 1: 0 -> 1 -> 0\n"));
  EXPECT_THAT(text, HasSubstr("\n  rank 1 of job 1  MPI_Recv from 0   halo.c:212\n"));
  EXPECT_THAT(text, HasSubstr("\n  rank 0 of job 2  MPI_Probe from 0   halo.c:212\n"));
  EXPECT_THAT(text, HasSubstr("\nbehind   rank 1 of job 2 in MPI_Barrier at halo.c:212: "));
}

/// However much there is to say, it stays short, within the width, and quick.
TEST(VerdictText, OfThousandsOfRanksIsShort) {
  constexpr std::int64_t ranks = 5000;
  Analysis analysis = cycle();
  analysis.core = {{0, ranks - 1, 1}};
  analysis.blocked.clear();
  analysis.waits.clear();
  std::string ring = "0";
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    analysis.waits.push_back(wait_of(rank, fmt::format("MPI_Recv from {}", rank + 1)));
    ring += fmt::format(" -> {}", (rank + 1) % ranks);
  }
  analysis.findings = {{FindingKind::cycle, analysis.core, ring}};
  const auto text = verdict(analysis);
  const auto lines = lines_of(text);
  EXPECT_LT(lines.size(), 30U);
  EXPECT_THAT(text, HasSubstr("\n  and 4988 more: --full\n"));
  for (const auto& line : lines)
    EXPECT_LE(line.size(), 104U) << line; // " ..." behind what was cut
  TextOptions full;
  full.full = true;
  EXPECT_GT(lines_of(verdict(analysis, full)).size(), 5000U);
}

TEST(VerdictText, LongWordsGoOnBelowTheirStart) {
  Analysis analysis = cycle();
  analysis.waits[0].because =
      "MPI_Waitall for MPI_Irecv from 1 tag 5 on C1, MPI_Irecv from 2 tag 5 on C1 and 40 more";
  analysis.not_visible.assign(20, "something that nobody saw");
  TextOptions narrow;
  narrow.width = 60;
  const auto text = verdict(analysis, narrow);
  for (const auto& line : lines_of(text))
    EXPECT_LE(line.size(), 60U) << line;
  EXPECT_THAT(text, HasSubstr("\n  rank 0  MPI_Waitall for MPI_Irecv from 1 tag    halo.c:212\n"
                              "          5 on C1, MPI_Irecv from 2 tag 5 on C1\n"));
  EXPECT_THAT(text, HasSubstr(",\n         something"));
}

/// Names of files and communicators come from the target.
TEST(VerdictText, HasNoControlCharacters) {
  Analysis analysis = cycle();
  analysis.waits[0].because = "MPI_Recv on \x1b[31m\xff";
  analysis.waits[0].place = "a\nb.c:1";
  analysis.look_at = {"rank\t\x1b]0;title\x07"};
  analysis.not_visible = {"\x9b\x01"};
  analysis.findings[0].message = "0 ->\r3";
  for (const char c : verdict(analysis))
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
}

TEST(VerdictText, ColoursSayHowBadItIs) {
  TextOptions colors;
  colors.color = true;
  const auto red = verdict(cycle(), colors);
  Analysis analysis = cycle();
  analysis.confidence = Confidence::possible;
  const auto yellow = verdict(analysis, colors);
  EXPECT_THAT(red, HasSubstr("\x1b["));
  EXPECT_NE(red.substr(0, red.find("DEADLOCK")), yellow.substr(0, yellow.find("DEADLOCK")));
}

} // namespace
} // namespace mqbridge::test
