// A dump may hold ten million operations: no report builds the whole of what it writes.

#include "host/document/json_report.h"
#include "host/report/text_report.h"
#include "host/report/tsv_report.h"
#include "tests/document/sample_dump.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>

namespace mqbridge::test {
namespace {

struct Report {
  const char* name;
  std::function<void(const Dump&, const Sink&)> write;
};

void PrintTo(const Report& report, std::ostream* out) {
  *out << report.name;
}

class Streaming : public testing::TestWithParam<Report> {};

/// Operations that differ, so that none can be folded with the next.
Dump large_dump(std::int64_t operations) {
  std::vector<Operation> receives;
  for (std::int64_t tag = 0; tag < operations; ++tag) {
    receives.push_back(pending(tag % 7, tag, 8 * tag));
    receives.back().buffer = TargetAddress{0x7f0000000000 + static_cast<std::uint64_t>(64 * tag)};
  }
  Dump dump;
  dump.ranks.push_back(complete_rank(0));
  dump.ranks[0].communicators = {world(0, 8)};
  dump.ranks[0].communicators[0].queue(OpClass::receive) = available(receives);
  return dump;
}

TEST_P(Streaming, TakesNoMemoryByTheOperation) {
  const Dump dump = large_dump(50'000);
  std::size_t written = 0;
  std::size_t largest_piece = 0;
  const std::size_t before = ::mallinfo2().uordblks;
  std::size_t most = before;
  GetParam().write(dump, [&](std::string_view piece) {
    written += piece.size();
    largest_piece = std::max(largest_piece, piece.size());
    most = std::max(most, std::size_t{::mallinfo2().uordblks});
  });
  constexpr std::size_t bound = 512 * 1024;
  EXPECT_GT(written, 5 * bound) << "it wrote them all";
  EXPECT_LT(largest_piece, bound);
  EXPECT_LT(most - before, bound);
}

INSTANTIATE_TEST_SUITE_P(
    Reports, Streaming,
    testing::Values(
        Report{"json", [](const Dump& dump, const Sink& sink) { write_json(dump, {}, sink); }},
        Report{"ndjson", [](const Dump& dump,
                            const Sink& sink) { write_ndjson_rank(dump.ranks[0], {}, sink); }},
        Report{"tsv", [](const Dump& dump, const Sink& sink) { write_tsv(dump, sink); }},
        Report{"text", [](const Dump& dump,
                          const Sink& sink) { write_text(dump, {.show = std::nullopt}, sink); }}),
    testing::PrintToStringParamName());

} // namespace
} // namespace mqbridge::test
