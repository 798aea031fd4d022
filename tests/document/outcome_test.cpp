#include "host/document/outcome.h"
#include "tests/document/sample_dump.h"

#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

RankError node_error(RankError::Level level) {
  return {"ssh.failed", level, "n020: no route", ""};
}

TEST(OutcomeOf, ErrorsOfNoRankMakeADumpIncomplete) {
  Dump dump = ring_dump(3);
  EXPECT_EQ(exit_status_of(outcome_of(dump)), 0);
  dump.errors = {node_error(RankError::Level::warning)};
  EXPECT_EQ(exit_status_of(outcome_of(dump)), 0) << "a warning costs nothing";
  dump.errors.push_back(node_error(RankError::Level::error));
  EXPECT_EQ(exit_status_of(outcome_of(dump)), 1);
  dump.ranks.clear();
  EXPECT_EQ(exit_status_of(outcome_of(dump)), 3);
}

TEST(OutcomeOf, TheLastLineSaysAllThatIsMissing) {
  EXPECT_EQ(exit_line({.complete = 1, .failed = 2}, 1), "exit 1: 2 of 3 ranks failed");
  EXPECT_EQ(exit_line({.partial = 1}, 1), "exit 1: 1 of 1 rank partial");
  EXPECT_EQ(exit_line({.complete = 1, .partial = 1, .failed = 1}, 1),
            "exit 1: 1 of 3 ranks failed, 1 partial");
  EXPECT_EQ(exit_line({.complete = 3, .faults = 2}, 1), "exit 1: 2 errors of no rank");
  EXPECT_EQ(exit_line({.partial = 2, .failed = 1, .faults = 1}, 1),
            "exit 1: 1 of 3 ranks failed, 2 partial, 1 error of no rank");
  EXPECT_EQ(exit_line({.faults = 1}, 3), "exit 3: nothing could be dumped: 1 error of no rank");
  EXPECT_EQ(exit_line({.failed = 1}, 130),
            "exit 130: interrupted, every target released: 1 of 1 rank failed");
}

} // namespace
} // namespace mqbridge::test
