// `mqbridge show`: the report of a saved document.

#include "host/document/json_report.h"
#include "tests/cli/program.h"
#include "tests/document/sample_dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mqbridge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Show : public testing::Test {
protected:
  void save(const Dump& dump) const {
    write_file(folder_ / "hang.json", written([&](const Sink& sink) {
                 write_json(dump, {.tool_version = "0.1.0", .raw = true}, sink);
               }));
  }
  Ran show(const std::string& words) const {
    return run(fmt::format("cd {} && mqbridge show {}", folder_.path().string(), words));
  }

  TemporaryFolder folder_;
};

TEST_F(Show, WritesTheTextOfADump) {
  save(ring_dump(3));
  const Ran shown = show("hang.json");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("mqbridge dump   3 ranks, 3 complete"));
  EXPECT_THAT(shown.out, HasSubstr("\nVERDICT  "));
  EXPECT_THAT(shown.out, HasSubstr("\nRank 2"));
  EXPECT_EQ(show("- <hang.json").out, shown.out);
}

TEST_F(Show, WritesTheSameRanksAsJson) {
  save(ring_dump(3));
  const auto written = json::parse(read_file(folder_ / "hang.json"));
  const auto shown = json::parse(show("--format json hang.json").out);
  EXPECT_EQ(shown["ranks"], written["ranks"]);
  EXPECT_EQ(shown["job"], written["job"]);
  EXPECT_FALSE(shown["analysis"].is_null());
}

TEST_F(Show, LeavesOutWhatFiltersDoNotName) {
  save(ring_dump(3));
  const Ran shown = show("--rank 1 --queue recv hang.json");
  EXPECT_THAT(shown.out, HasSubstr("shown only: queue receive; rank 1"));
  EXPECT_THAT(shown.out, HasSubstr("\nRank 1"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\nRank 2")));
  // The verdict is of all that the document has.
  EXPECT_EQ(json::parse(show("--rank 1 --format json hang.json").out)["analysis"],
            json::parse(show("--format json hang.json").out)["analysis"]);
}

TEST_F(Show, HasTheVerdictThatTheTextOfTheDumpHas) {
  Dump dump = ring_dump(3);
  for (RankDump& rank : dump.ranks)
    rank.status = RankStatus::failed;
  save(dump);
  EXPECT_THAT(show("hang.json").out, Not(HasSubstr("VERDICT"))); // nothing was seen
  save(ring_dump(3));
  EXPECT_THAT(show("--no-analyze hang.json").out, Not(HasSubstr("VERDICT")));
}

TEST_F(Show, SaysWhatItCannotRead) {
  const Ran shown = show("missing.json");
  EXPECT_EQ(shown.status, 3);
  EXPECT_THAT(shown.err, HasSubstr("document.open"));
}

TEST_F(Show, DrawsWhoWaitsForWhom) {
  Dump dump = ring_dump(2);
  for (RankDump& rank : dump.ranks) {
    rank.communicators[0].queue(OpClass::send) = available({});
    rank.communicators[0].name = "a\"];evil[\\";
    rank.communicators[0].named_by_mpi = false;
    rank.blocked_in = {BlockedCall{
        .thread = 1, .call = "MPI_Recv\"]; evil [\\", .communicator = rank.communicators[0].id}};
  }
  save(dump);
  const Ran shown = show("--format dot hang.json");
  EXPECT_THAT(shown.out, testing::StartsWith("digraph waits {\n"));
  EXPECT_THAT(shown.out, testing::EndsWith("}\n"));
  // Without what stands in quotation marks, nothing of the target is left.
  EXPECT_EQ(run(fmt::format(
                    "sed -E 's/\"([^\"\\\\]|\\\\.)*\"//g' <<'END' | grep -c -e evil -e MPI\n{}END",
                    shown.out))
                .out,
            "0\n");
}

} // namespace
} // namespace mqbridge::test
