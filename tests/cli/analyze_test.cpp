// `mqbridge analyze` as a shell sees it, and what it reads.

#include "host/cli/commands/read_documents.h"
#include "host/cli/commands/verdict.h"
#include "host/document/json_report.h"
#include "tests/cli/program.h"
#include "tests/document/sample_dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace mqbridge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const JsonOptions options{.tool_version = "0.1.0"};
constexpr std::uint64_t enough = std::uint64_t{1} << 30;

Dump ring(int ranks) {
  Dump dump = ring_dump(ranks);
  dump.taken_at = "2026-11-05T08:00:00Z";
  return dump;
}

std::string document(const Dump& dump) {
  return written([&](const Sink& sink) { write_json(dump, options, sink); });
}

std::string lines(const Dump& dump) {
  return written([&](const Sink& sink) {
    write_ndjson_header(dump, options, sink);
    for (const RankDump& rank : dump.ranks)
      write_ndjson_rank(rank, options, sink);
    for (const EarlierLook& look : dump.earlier)
      for (const RankDump& rank : look.ranks)
        write_ndjson_earlier(rank, look.taken_at, options, sink);
    write_ndjson_summary(dump, sink);
  });
}

Result<std::vector<NamedDump>> read(const std::string& text, std::uint64_t most_bytes = enough) {
  std::istringstream in(text);
  return read_documents(in, "d.json", most_bytes);
}

std::string message_of(const auto& result) {
  return result ? "no error" : fmt::format("{}: {}", result.error().code, result.error().message);
}

TEST(ReadDocuments, TakesJsonAndNdjsonByTheirContents) {
  Dump dump = ring(3);
  dump.earlier = {{"2026-11-05T07:59:58Z", ring(3).ranks}};
  for (RankDump& rank : dump.earlier[0].ranks)
    rank.statistics = {};
  const auto compact = json::parse(document(dump)).dump(); // one line, as jq -c writes it
  for (const auto& text : {document(dump), compact, compact + "\n", lines(dump)}) {
    const auto all = read(text);
    ASSERT_TRUE(all) << message_of(all) << text.substr(0, 60);
    ASSERT_EQ(all->size(), 1U);
    EXPECT_EQ(all->front().name, "d.json");
    EXPECT_EQ(lines(all->front().dump), lines(dump));
  }
}

TEST(ReadDocuments, TakesSeveralDocumentsOfNdjsonOneBehindTheOther) {
  const auto all = read(lines(ring(2)) + "\n" + lines(ring(3)));
  ASSERT_TRUE(all) << message_of(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->at(0).dump.ranks.size(), 2U);
  EXPECT_EQ(all->at(1).dump.ranks.size(), 3U);
  EXPECT_THAT(all->at(1).dump.errors, IsEmpty());
}

TEST(ReadDocuments, SayWhereNdjsonWasCutOff) {
  const auto text = lines(ring(3));
  const auto summary = text.rfind('\n', text.size() - 2) + 1;
  const auto all = read(text.substr(0, summary) + lines(ring(2)));
  ASSERT_TRUE(all) << message_of(all);
  ASSERT_EQ(all->size(), 2U);
  ASSERT_EQ(all->at(0).dump.errors.size(), 1U);
  EXPECT_EQ(all->at(0).dump.errors[0].code, "document.cut");
  EXPECT_THAT(all->at(1).dump.errors, IsEmpty());
  EXPECT_THAT(message_of(read(text.substr(0, summary - 10))), HasSubstr("d.json: line 4: "));
}

TEST(ReadDocuments, NameTheFileAndTheLineThatIsWrong) {
  EXPECT_THAT(message_of(read("")), StartsWith("document.syntax: d.json: "));
  EXPECT_THAT(message_of(read("hello\n")), StartsWith("document.syntax: d.json: "));
  EXPECT_THAT(message_of(read("{}\n")), StartsWith("document.field: d.json: schema"));
  EXPECT_THAT(message_of(read(lines(ring(1)) + "{\"type\":\"rank\"}\n")),
              StartsWith("document.field: d.json: line 4: "));
  const auto text = lines(ring(1));
  EXPECT_THAT(message_of(read(text.substr(text.find('\n') + 1))),
              StartsWith("document.schema: d.json: line 1: a dump as NDJSON begins with"));
}

TEST(ReadDocuments, TakeNoMoreMemoryThanTheyMay) {
  EXPECT_THAT(message_of(read(lines(ring(100)), 50'000)), StartsWith("document.limit: d.json: "));
  EXPECT_THAT(message_of(read(document(ring(100)), 50'000)), StartsWith("document.limit: d.json"));
  EXPECT_TRUE(read(lines(ring(100)), 5'000'000));
}

TEST(FailOn, IsMetByDeadlocksThatAreSureEnough) {
  Analysis analysis;
  EXPECT_FALSE(meets(analysis, FailOn{Confidence::possible})) << "undecided";
  analysis.verdict = Verdict::no_deadlock;
  analysis.confidence = Confidence::certain;
  EXPECT_FALSE(meets(analysis, FailOn{Confidence::possible}));
  analysis.verdict = Verdict::deadlock;
  EXPECT_TRUE(meets(analysis, FailOn{Confidence::certain}));
  analysis.confidence = Confidence::possible;
  EXPECT_TRUE(meets(analysis, FailOn{Confidence::possible}));
  EXPECT_FALSE(meets(analysis, FailOn{Confidence::likely}));
}

TEST(FailOn, ComesBeforePartialRanksAndBehindInterruption) {
  Analysis analysis;
  analysis.verdict = Verdict::deadlock;
  analysis.confidence = Confidence::likely;
  EXPECT_EQ(status_of_verdict(analysis, FailOn{Confidence::likely}, 1), 4);
  EXPECT_EQ(status_of_verdict(analysis, FailOn{Confidence::likely}, 130), 130);
  EXPECT_EQ(status_of_verdict(analysis, std::nullopt, 1), 1);
  EXPECT_EQ(status_of_verdict(std::nullopt, FailOn{Confidence::likely}, 3), 3);
}

class Analyze : public testing::Test {
protected:
  Ran analyze(const std::string& arguments) {
    return run(fmt::format("cd {} && mqbridge analyze {}", folder_.path().string(), arguments));
  }

  TemporaryFolder folder_;
};

TEST_F(Analyze, PrintsTheVerdictAndWithFullTheRanks) {
  write_file(folder_ / "a.json", document(ring(2)));
  const Ran plain = analyze("a.json");
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out, StartsWith("VERDICT  "));
  EXPECT_EQ(plain.err, "");
  const Ran full = analyze("--full a.json");
  EXPECT_THAT(full.out, HasSubstr("\nRank 1  "));
  EXPECT_THAT(full.out, HasSubstr("\nVERDICT  "));
  EXPECT_EQ(analyze("- < a.json").out, plain.out);
}

TEST_F(Analyze, WritesOneDocumentOfMany) {
  auto later = ring(2);
  later.taken_at = "2026-11-05T08:00:05Z";
  for (auto* dump : {&later})
    for (RankDump& rank : dump->ranks)
      rank.stopped_at = "2026-11-05T08:00:05Z";
  auto before = ring(2);
  for (RankDump& rank : before.ranks)
    rank.stopped_at = "2026-11-05T08:00:00Z";
  write_file(folder_ / "a.json", document(before));
  write_file(folder_ / "b.ndjson", lines(later));
  const Ran ran = analyze("--format json -o c.json b.ndjson a.json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  const auto joined = json::parse(read_file(folder_ / "c.json"));
  EXPECT_EQ(joined["ranks"].size(), 2U);
  EXPECT_EQ(joined["earlier"].size(), 1U);
  EXPECT_EQ(joined["analysis"]["looks"], 2);
  const Ran again = analyze("--format ndjson c.json");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(std::count(again.out.begin(), again.out.end(), '\n'), 6) << "header to summary";
  EXPECT_THAT(again.out, HasSubstr(R"("analysis":{"verdict":)"));
}

TEST_F(Analyze, NamesTheFileThatIsNoDump) {
  write_file(folder_ / "a.json", document(ring(2)));
  write_file(folder_ / "bad.json", document(ring(2)).substr(0, 100));
  const Ran bad = analyze("a.json bad.json");
  EXPECT_EQ(bad.status, 3);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.err, StartsWith("mqbridge: document.syntax: bad.json: "));
  const Ran missing = analyze("a.json missing.json");
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("document.open: missing.json: No such file"));
  EXPECT_THAT(analyze(".").err, HasSubstr(".: Is a directory"));
}

TEST_F(Analyze, SaysThatADocumentWasCutOff) {
  const auto text = lines(ring(2));
  write_file(folder_ / "a.ndjson", text.substr(0, text.rfind('\n', text.size() - 2) + 1));
  const Ran ran = analyze("a.ndjson");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, StartsWith("mqbridge: document.cut: a.ndjson: it was cut off"));
}

TEST_F(Analyze, ComparesWithAnEarlierDocument) {
  auto before = ring(3);
  before.ranks.pop_back();
  write_file(folder_ / "a.json", document(before));
  write_file(folder_ / "b.json", document(ring(3)));
  const Ran text = analyze("--before a.json b.json");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nCHANGES  "));
  EXPECT_THAT(text.out, HasSubstr("1 is new"));
  const auto changes =
      json::parse(analyze("--format json --before a.json b.json").out)["analysis"]["changes"];
  ASSERT_EQ(changes["ranks"].size(), 3U);
  EXPECT_EQ(changes["ranks"][0]["change"], "same");
  EXPECT_EQ(changes["ranks"][2]["change"], "new");
  EXPECT_THAT(analyze("--before no.json b.json").err, HasSubstr("document.open: no.json"));
}

TEST_F(Analyze, SaysThatUndecidedDoesNotMeetFailOn) {
  auto dump = ring(2);
  dump.ranks[1].status = RankStatus::failed;
  dump.ranks[0].communicators.clear();
  dump.ranks[0].status = RankStatus::partial;
  write_file(folder_ / "a.json", document(dump));
  const Ran ran = analyze("--fail-on deadlock:possible a.json");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, StartsWith("mqbridge: --fail-on is not met: whether the job is deadlocked "
                                  "is undecided"));
}

TEST_F(Analyze, FailsOnAStuckJobThatIsUndecidedAndDidNotMove) {
  auto dump = ring(2);
  for (RankDump& rank : dump.ranks)
    rank.stopped_at = "2026-01-01T00:00:00.000Z";
  for (RankDump& rank : dump.ranks)
    rank.blocked_in = {
        BlockedCall{.thread = rank.pid.value_or(1), .call = "MPI_Win_fence"}}; // unseen
  dump.earlier.push_back({"2026-01-01T00:00:00.000Z", dump.ranks});
  for (RankDump& rank : dump.ranks)
    rank.stopped_at = "2026-01-01T00:00:02.000Z";
  write_file(folder_ / "a.json", document(dump));
  EXPECT_EQ(analyze("--fail-on deadlock:possible a.json").status, 0);
  EXPECT_EQ(analyze("--fail-on stuck a.json").status, 4);
  dump.earlier.clear(); // one look: nobody knows whether it moves
  write_file(folder_ / "b.json", document(dump));
  EXPECT_EQ(analyze("--fail-on stuck b.json").status, 0);
}

TEST_F(Analyze, OutputThatCannotBeWrittenIsStatusFive) {
  write_file(folder_ / "a.json", document(ring(2)));
  EXPECT_EQ(analyze("-o no/such/folder a.json").status, 5);
  EXPECT_EQ(analyze("a.json > /dev/full").status, 5);
}

} // namespace
} // namespace mqbridge::test
