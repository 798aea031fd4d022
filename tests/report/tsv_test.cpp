#include "host/report/tsv_report.h"
#include "tests/document/sample_dump.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <vector>

namespace mqbridge::test {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

/// Reads the table back as a script would: by the names of the columns.
std::vector<Row> rows_of(const Dump& dump) {
  std::istringstream in(written([&](const Sink& sink) { write_tsv(dump, sink); }));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> titles = split(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line);
    EXPECT_EQ(cells.size(), titles.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), titles.size()); ++i)
      row[titles[i]] = cells[i];
  }
  return rows;
}

std::vector<Row> of_kind(const std::vector<Row>& rows, const std::string& kind) {
  std::vector<Row> found;
  for (const Row& row : rows)
    if (row.at("kind") == kind)
      found.push_back(row);
  return found;
}

TEST(Tsv, ALineForEachOperation) {
  const auto operations = of_kind(rows_of(sample_dump()), "operation");
  ASSERT_EQ(operations.size(), 1003U);
  const Row& send = operations[0];
  EXPECT_EQ(send.at("rank"), "0");
  EXPECT_EQ(send.at("comm_key"), "C1");
  EXPECT_EQ(send.at("comm_name"), "MPI_COMM_WORLD");
  EXPECT_EQ(send.at("queue"), "send");
  EXPECT_EQ(send.at("state"), "pending");
  EXPECT_EQ(send.at("peer_global"), "1");
  EXPECT_EQ(send.at("tag"), "17");
  EXPECT_EQ(send.at("length"), "4194304");
  EXPECT_EQ(send.at("buffer"), "0x7f1c4b001010");
  const Row& any = operations[1];
  EXPECT_EQ(any.at("peer_any"), "true");
  EXPECT_EQ(any.at("peer_global"), "");
  EXPECT_EQ(any.at("tag"), "");
  EXPECT_EQ(any.at("repairs"), "sign_extension");
}

TEST(Tsv, KindAndDeliveryOfAnOperation) {
  Dump dump = sample_dump();
  Operation& send = dump.ranks[0].communicators[0].queue(OpClass::send).operations[0];
  for (const auto& [delivery, text] :
       {std::pair{Delivery::not_known, ""}, std::pair{Delivery::undelivered, "false"},
        std::pair{Delivery::delivered, "true"}}) {
    send.kind = OpKind::send;
    send.delivery = delivery;
    const auto operations = of_kind(rows_of(dump), "operation");
    EXPECT_EQ(operations[0].at("op_kind"), "send");
    EXPECT_EQ(operations[0].at("delivered"), text);
    EXPECT_EQ(operations[1].at("op_kind"), ""); // not known
  }
}

TEST(Tsv, ColumnsStayWhereTheyAreAndNewOnesComeLast) {
  const auto text = written([](const Sink& sink) { write_tsv(Dump{}, sink); });
  const auto titles = split(text.substr(0, text.find('\n')));
  ASSERT_EQ(titles.size(), 43U);
  EXPECT_EQ(titles[0], "kind");
  EXPECT_EQ(titles[29], "endpoint");
  EXPECT_EQ(std::vector(titles.begin() + 30, titles.end()),
            (std::vector<std::string>{"source", "collective", "protocol", "waited_mode",
                                      "waited_group", "waited_count", "waited_unseen", "call",
                                      "function", "file", "line", "thread", "system_call"}));
}

TEST(Tsv, ALineForEachCallInWhichAThreadIs) {
  Dump dump = sample_dump();
  dump.ranks[0].blocked_in = {{.thread = 41822,
                               .call = "MPI_Recv",
                               .communicator = TargetAddress{0x6010},
                               .file = "halo.c",
                               .line = 212,
                               .function = "exchange"},
                              {.thread = 41825, .function = "log", .system_call = "read"}};
  const auto calls = of_kind(rows_of(dump), "call");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].at("rank"), "0");
  EXPECT_EQ(calls[0].at("call"), "MPI_Recv");
  EXPECT_EQ(calls[0].at("comm_id"), "0x6010");
  EXPECT_EQ(calls[0].at("file"), "halo.c");
  EXPECT_EQ(calls[0].at("line"), "212");
  EXPECT_EQ(calls[0].at("thread"), "41822");
  EXPECT_EQ(calls[1].at("call"), "");
  EXPECT_EQ(calls[1].at("function"), "log");
  EXPECT_EQ(calls[1].at("system_call"), "read");
}

TEST(Tsv, WhatTheDllDoesNotSay) {
  Dump dump = sample_dump();
  Operation& send = dump.ranks[0].communicators[0].queue(OpClass::send).operations[0];
  send.source = OpSource::mqbridge;
  send.collective = Collective::reduce_scatter;
  send.protocol = Protocol::rendezvous;
  send.waited = Waited{.group = 4'000'000'000, .count = 3, .mode = WaitMode::all, .unseen = true};
  auto operations = of_kind(rows_of(dump), "operation");
  EXPECT_EQ(operations[0].at("source"), "mqbridge");
  EXPECT_EQ(operations[0].at("collective"), "reduce_scatter");
  EXPECT_EQ(operations[0].at("protocol"), "rendezvous");
  EXPECT_EQ(operations[0].at("waited_mode"), "all");
  EXPECT_EQ(operations[0].at("waited_group"), "4000000000");
  EXPECT_EQ(operations[0].at("waited_count"), "3");
  EXPECT_EQ(operations[0].at("waited_unseen"), "true");
  EXPECT_EQ(operations[1].at("source"), "dll");
  for (const char* column :
       {"collective", "protocol", "waited_mode", "waited_group", "waited_count", "waited_unseen"})
    EXPECT_EQ(operations[1].at(column), "") << column;
  send.waited = Waited{.group = 1};
  operations = of_kind(rows_of(dump), "operation");
  EXPECT_EQ(operations[0].at("waited_mode"), "unknown");
  EXPECT_EQ(operations[0].at("waited_count"), "");
  EXPECT_EQ(operations[0].at("waited_unseen"), "");
}

TEST(Tsv, WhereARecordedOperationWasPosted) {
  Dump dump = sample_dump();
  auto& world = dump.ranks[0].communicators[0];
  Operation& send = world.queue(OpClass::send).operations[0];
  send.call = std::make_shared<const std::string>("MPI_Isend");
  send.site =
      std::make_shared<CallSite>(CallSite{TargetAddress{0x401234}, "exchange", "halo.c", 212});
  world.queue(OpClass::receive).operations[0].site =
      std::make_shared<CallSite>(CallSite{TargetAddress{0x401234}});
  const auto rows = of_kind(rows_of(dump), "operation");
  EXPECT_EQ(rows[0].at("call"), "MPI_Isend");
  EXPECT_EQ(rows[0].at("function"), "exchange");
  EXPECT_EQ(rows[0].at("file"), "halo.c");
  EXPECT_EQ(rows[0].at("line"), "212");
  for (const char* column : {"call", "function", "file", "line"})
    EXPECT_EQ(rows[1].at(column), "") << column;
}

TEST(Tsv, NothingIsLostSilently) {
  const auto rows = rows_of(sample_dump());
  const auto queues = of_kind(rows, "queue");
  ASSERT_EQ(queues.size(), 3U); // the unexpected queue of each communicator
  EXPECT_EQ(queues[0].at("state"), "unavailable");
  EXPECT_EQ(queues[0].at("reason"), "not_provided");
  const auto ranks = of_kind(rows, "rank");
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[2].at("state"), "failed");
  EXPECT_EQ(ranks[2].at("message"), "");
  EXPECT_EQ(ranks[0].at("held_ms"), "22");
  EXPECT_EQ(ranks[2].at("held_ms"), "") << "it was never held";
  const auto errors = of_kind(rows, "error");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].at("reason"), "ptrace.denied");
  EXPECT_EQ(errors[0].at("hint"), "sysctl -w kernel.yama.ptrace_scope=0");
}

/// Where the rank is not known, too.
TEST(Tsv, EveryLineNamesItsProcess) {
  Dump dump = sample_dump();
  dump.ranks[2].rank.reset();
  for (const Row& row : rows_of(dump)) {
    const bool last = row.at("rank").empty();
    EXPECT_EQ(row.at("pid"), last ? "3312" : row.at("rank") == "0" ? "41822" : "3310");
    EXPECT_EQ(row.at("host"), last ? "n019" : row.at("rank") == "0" ? "n017" : "n018");
    EXPECT_EQ(row.at("endpoint"), last ? "n019:7001@3312" : "n017:7001");
  }
}

TEST(Tsv, ErrorsOfNoRankNameNoProcess) {
  Dump dump = sample_dump();
  dump.errors = {{"ssh.failed", RankError::Level::warning, "n020: no route", "ssh n020 true"}};
  const Row said = of_kind(rows_of(dump), "warning").at(0);
  EXPECT_EQ(said.at("reason"), "ssh.failed");
  EXPECT_EQ(said.at("message"), "n020: no route");
  EXPECT_EQ(said.at("hint"), "ssh n020 true");
  for (const char* column : {"rank", "pid", "host", "endpoint"})
    EXPECT_EQ(said.at(column), "") << column;
}

TEST(Tsv, CutQueuesKeepTheirOperationsAndSaySo) {
  Dump dump = ring_dump(1);
  Queue& receives = dump.ranks[0].communicators[0].queue(OpClass::receive);
  receives.truncated_by = TruncatedBy::max_stop;
  receives.total.reset();
  const auto rows = rows_of(dump);
  EXPECT_EQ(of_kind(rows, "operation").size(), 1U);
  const Row cut = of_kind(rows, "queue").at(0);
  EXPECT_EQ(cut.at("queue"), "receive");
  EXPECT_EQ(cut.at("truncated_by"), "max_stop");
  EXPECT_EQ(cut.at("total"), "");
}

TEST(Tsv, TheVerdictAndItsFindingsHaveLines) {
  Dump dump = ring_dump(1);
  EXPECT_TRUE(of_kind(rows_of(dump), "verdict").empty());
  Analysis& analysis = dump.analysis.emplace();
  analysis.verdict = Verdict::deadlock;
  analysis.confidence = Confidence::possible;
  analysis.findings = {{FindingKind::tag_mismatch, {{3, 3, 1}}, "rank 3:\ttag 71"}};
  const auto rows = rows_of(dump);
  EXPECT_EQ(of_kind(rows, "verdict").at(0).at("state"), "deadlock");
  EXPECT_EQ(of_kind(rows, "verdict").at(0).at("reason"), "possible");
  EXPECT_EQ(of_kind(rows, "finding").at(0).at("reason"), "tag_mismatch");
  EXPECT_EQ(of_kind(rows, "finding").at(0).at("message"), "rank 3:\\ttag 71");
  EXPECT_EQ(of_kind(rows, "finding").at(0).at("pid"), "");
}

TEST(Tsv, NamesCannotBreakTheTable) {
  Dump dump = sample_dump();
  dump.ranks[0].communicators[0].name = "a\tb\nc\\d\x1b";
  EXPECT_EQ(of_kind(rows_of(dump), "operation")[0].at("comm_name"), "a\\tb\\nc\\\\d\\x1b");
}

} // namespace
} // namespace mqbridge::test
