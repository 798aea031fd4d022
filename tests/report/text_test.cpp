#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"
#include "tests/report/report_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t lines_with(const std::string& text, std::string_view part) {
  std::istringstream in(text);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);)
    count += line.find(part) != std::string::npos;
  return count;
}

void expect_narrow(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(Text, TheWholeOfASmallDump) {
  EXPECT_EQ(
      text_of(sample_dump(), {.exit_status = 1}),
      R"(mqbridge dump   3 ranks, 2 complete, 1 FAILED    stops spread 40 ms, job stalled 53 ms

RANK HOST    PID  PLATFORM     MPI (transport)       HELD  SEND  RECV  UNEXP  STATUS
   0 n017  41822  x86_64 LE64  Open MPI 4.1.4 (ob1) >22ms     1     2    n/a  ok
   1 n018   3310  s390x  BE64  Open MPI 4.1.4 (ob1) >31ms     0  1000    n/a  ok
   2 n019   3312  -            -                        -     ?     ?      ?  FAILED ptrace.denied

Rank 0  ./solver   DLL libompi_dbg_msgq.so
  C1 MPI_COMM_WORLD   rank 0 of 3
    QUEUE  STATUS   PEER(local)  TAG     SIZE  BUFFER
    send   pending  1            17     4 MiB  0x7f1c4b001010
    recv   pending  ANY          ANY*  64 KiB  0x7f1c4a20e010
  C2 "row"            rank 2 of 3   global ranks 2,1,0
    recv   pending  2(0)         5        8 B  0x7ffd1180
  unexpected messages: not provided by Open MPI (unknown, not empty)
  * repaired: sign extension (--raw shows the DLL's value)

Rank 1  ./solver   DLL libompi_dbg_msgq.so
  C1 MPI_COMM_WORLD   rank 1 of 3
    QUEUE  STATUS   PEER(local)  TAG        SIZE  BUFFER
    recv   pending  2            40   1000 x 8 B  same peer, tag and size  (--show all)
  unexpected messages: not provided by Open MPI (unknown, not empty)

Rank 2  FAILED  n019 pid 3312  ptrace.denied
  gdbserver: Operation not permitted; same user, yama ptrace_scope=1
  fix: sysctl -w kernel.yama.ptrace_scope=0
exit 1: 1 of 3 ranks failed
)");
}

TEST(Text, ErrorsOfNoRankStandBehindAllRanksAndBelowTheTableAlone) {
  Dump dump = sample_dump();
  dump.errors = {{"ssh.failed", RankError::Level::error, "n020: no route", "ssh n020 true"},
                 {"ssh.slow", RankError::Level::warning, "n021\x1b took 9 s", ""}};
  const std::string expected = R"(
Of no rank
  ssh.failed: n020: no route
  fix: ssh n020 true
  warning ssh.slow: n021\x1b took 9 s
exit 1: 1 of 3 ranks failed, 1 error of no rank
)";
  EXPECT_TRUE(text_of(dump, {.exit_status = 1}).ends_with("\n" + expected)) << text_of(dump);
  EXPECT_TRUE(text_of(dump, {.summary = true, .exit_status = 1}).ends_with(expected));
}

TEST(Text, SummaryIsTheTableOnly) {
  const std::string text = text_of(sample_dump(), {.summary = true});
  EXPECT_THAT(text, HasSubstr("STATUS\n"));
  EXPECT_THAT(text, Not(HasSubstr("MPI_COMM_WORLD")));
  EXPECT_EQ(lines_with(text, ""), 6U);
}

TEST(Text, WhatIsNoPlainSendOrReceiveSaysWhatItIs) {
  Dump dump = sample_dump();
  Communicator& all = dump.ranks[0].communicators[0];
  Operation& send = all.queue(OpClass::send).operations[0];
  send.status = OpStatus::complete;
  send.delivery = Delivery::undelivered;
  Operation& probe = all.queue(OpClass::receive).operations[0];
  probe.kind = OpKind::mprobe;
  probe.length = {std::nullopt, LengthUnit::unknown};
  probe.buffer.reset();
  const std::string text = text_of(dump);
  EXPECT_THAT(text, testing::ContainsRegex("send +complete +1 +17 +4 MiB +0x7f1c4b001010  not "
                                           "delivered\n"));
  EXPECT_THAT(text, testing::ContainsRegex("recv +pending +ANY +ANY\\* +-  -  MPI_Mprobe\n"));
  probe.kind = OpKind::message;
  probe.status = OpStatus::matched;
  EXPECT_THAT(text_of(dump), testing::ContainsRegex("recv +matched.*  held for MPI_Mrecv\n"));
}

/// A program waits for them no more: they are no pending sends.
TEST(Text, SendsThatHaveReturnedAreCounted) {
  Dump dump = ring_dump(1);
  auto& sends = dump.ranks[0].communicators[0].queue(OpClass::send);
  sends = available({});
  const auto before = text_of(dump);
  for (int i = 0; i < 2; ++i) {
    Operation& send = sends.operations.emplace_back();
    send.kind = OpKind::send;
    send.status = OpStatus::complete;
    send.peer = {false, 1, 1};
    send.tag = {false, 4711};
    send.text = {"MPI_Send", "returned: not known to have arrived"};
    send.call = std::make_shared<const std::string>("MPI_Send");
    send.site = std::make_shared<CallSite>(CallSite{{0x1234}, "exchange", "src/halo.c", 212});
  }
  sends.total = 2;
  const auto text = text_of(dump);
  EXPECT_THAT(text,
              HasSubstr("2 sends have returned; nothing says that their messages are received  "
                        "(--full)\n"));
  EXPECT_THAT(text, Not(HasSubstr("4711")));
  EXPECT_EQ(text.substr(0, text.find("\nRank")), before.substr(0, before.find("\nRank")))
      << "the table counts none of them";
  const auto full = text_of(dump, {.full = true});
  EXPECT_THAT(
      full, testing::ContainsRegex("send +complete +1 +4711 .*returned  MPI_Send at halo.c:212\n"));
  EXPECT_THAT(full, Not(HasSubstr("have returned")));
}

/// The recorders of both ends say that it was sent, and not received.
TEST(Text, WhatTheRecordersTellTogetherMayStillBeOnItsWay) {
  Dump dump = ring_dump(1);
  auto& unexpected = dump.ranks[0].communicators[0].queue(OpClass::unexpected);
  unexpected = available({});
  unexpected.operations.emplace_back().tag = {false, 4711};
  EXPECT_THAT(text_of(dump), testing::ContainsRegex("unexp +arrived .*4711"));
  unexpected.operations[0].source = OpSource::recorder;
  EXPECT_THAT(text_of(dump), testing::ContainsRegex("unexp +sent .*4711"));
}

TEST(Text, OnlyTheRecorderSaysThatAQueueIsEmpty) {
  struct Case {
    const char* provider;
    std::array<const char*, 3> says;
  };
  for (const auto& [provider, says] : {Case{"openmpi",
                                            {"send, recv: none that the debug DLL lists", "",
                                             "unexpected messages: not provided"}},
                                       Case{"other",
                                            {"send, recv: none that the debug DLL lists", "",
                                             "unexpected messages: not provided"}},
                                       Case{"mpich",
                                            {"send, recv, unexp: none that the debug DLL lists",
                                             "\n  sends: blocking sends are not listed",
                                             "\n  unexpected messages: those not polled yet "
                                             "are not listed"}},
                                       Case{"recorder", {"send, recv, unexp: empty", "", ""}}}) {
    Dump dump = ring_dump(1);
    RankDump& rank = dump.ranks[0];
    rank.dll->provider = provider;
    const bool lists_unexpected = rank.dll->provider == "mpich" || rank.dll->provider == "recorder";
    for (const OpClass op_class : op_classes)
      if (op_class != OpClass::unexpected || lists_unexpected)
        rank.communicators[0].queue(op_class) = available({});
    const std::string text = text_of(dump, {.full = true});
    for (const char* words : says)
      EXPECT_THAT(text, HasSubstr(words)) << provider;
    EXPECT_EQ(lines_with(text, ": empty"), rank.dll->provider == "recorder" ? 1U : 0U) << text;
    expect_narrow(text);
  }
}

TEST(Text, MpichsSendsAreNotAllWhereOthersAreListed) {
  Dump dump = sample_dump();
  dump.ranks[0].dll->provider = "mpich";
  EXPECT_EQ(lines_with(text_of(dump), "  sends: blocking sends are not listed"), 1U);
}

/// A communicator of all ranks, on each of them with a receive if `busy`.
void add_communicator(Dump& dump, const std::string& name, const std::string& key, bool busy) {
  for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
    Communicator other = world(static_cast<std::int64_t>(i), 4);
    other.name = name;
    other.named_by_mpi = false;
    other.key = key;
    if (busy)
      other.queue(OpClass::receive) = available({pending(0, 1, 8)});
    dump.ranks[i].communicators.push_back(other);
  }
}

void add_self(Dump& dump) {
  for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
    Communicator self = world(0, 1);
    self.name = "MPI_COMM_SELF";
    self.key = "C" + std::to_string(20 + i);
    dump.ranks[i].communicators.push_back(self);
  }
}

TEST(Text, WhatIsIdleOnEveryRankIsOneLineForAll) {
  for (const int ranks : {4, 16}) { // in full, and folded
    Dump dump = ring_dump(ranks);
    add_communicator(dump, "busy", "C2", true);
    add_communicator(dump, "spare", "C3", false);
    add_self(dump);
    const std::string text = text_of(dump);
    EXPECT_THAT(text, HasSubstr("\n\nnothing that the debug DLL lists, on any rank: "
                                "C3 \"spare\", MPI_COMM_SELF\n\n"));
    EXPECT_EQ(lines_with(text, "spare"), 1U);
    EXPECT_EQ(lines_with(text, "MPI_COMM_SELF"), 1U);
    EXPECT_EQ(lines_with(text_of(dump, {.full = true}), " \"spare\" "),
              static_cast<std::size_t>(ranks));
  }
}

/// On one rank it holds something, or was not read to its end, or that rank was not read at all.
TEST(Text, WhatIsIdleOnSomeRanksAloneIsNotSaidOfAll) {
  Dump dump = ring_dump(4);
  add_communicator(dump, "row", "C2", false);
  Queue& receives = dump.ranks[2].communicators[1].queue(OpClass::receive);
  receives = available({pending(0, 1, 8)});
  EXPECT_THAT(text_of(dump), Not(HasSubstr("on any rank")));
  EXPECT_EQ(lines_with(text_of(dump), "C2 \"row\""), 4U);
  receives = available({});
  receives.truncated_by = TruncatedBy::max_stop;
  EXPECT_THAT(text_of(dump), Not(HasSubstr("on any rank")));
  receives = available({});
  EXPECT_THAT(text_of(dump), HasSubstr("on any rank: C2 \"row\"\n"));
  dump.ranks[3].communicators.clear();
  EXPECT_THAT(text_of(dump), HasSubstr("on any rank that was read: C2 \"row\"\n"));
  for (RankDump& rank : dump.ranks)
    for (Communicator& communicator : rank.communicators)
      communicator.queues.fill(unavailable(QueueReason::transport_bypasses));
  EXPECT_THAT(text_of(dump), Not(HasSubstr("nothing that"))) << "nothing was read";
}

/// Its DLL crashed, or its time was over: communicators that it never came to are in no list.
TEST(Text, OfARankThatWasCutShortMoreMayBeThere) {
  Dump dump = ring_dump(2);
  add_communicator(dump, "row", "C2", false);
  RankDump& rank = dump.ranks[1];
  rank.status = RankStatus::partial; // such as a transport that bypasses the DLL
  rank.errors = {{"transport.bypasses", RankError::Level::warning, "bypassed", ""}};
  EXPECT_THAT(text_of(dump), HasSubstr("on any rank: C2 \"row\"\n"));
  EXPECT_THAT(text_of(dump), Not(testing::ContainsRegex("[0-9]\\+ ")));
  rank.errors = {{"walk.max_stop", RankError::Level::error, "its time was over", ""}};
  for (const RankStatus status : {RankStatus::partial, RankStatus::failed}) {
    rank.status = status;
    const std::string text = text_of(dump);
    EXPECT_THAT(text, HasSubstr("on any rank that was read: C2 \"row\"\n"));
    EXPECT_THAT(text, testing::ContainsRegex(" +[?1]\\+? +1\\+ +n/a +[FApr]"));
  }
  for (Queue& queue : rank.communicators[0].queues)
    if (queue.state == QueueState::available)
      queue = available({});
  EXPECT_THAT(text_of(dump), testing::ContainsRegex(" \\? +\\? +n/a +FAILED"));
}

TEST(Text, WhatTheMpiNeverProvidesIsSaidOnceARank) {
  Dump dump = ring_dump(2);
  add_communicator(dump, "busy", "C2", true);
  EXPECT_EQ(lines_with(text_of(dump), "not provided by Open MPI (unknown, not empty)"), 2U);
  for (Communicator& communicator : dump.ranks[0].communicators)
    communicator.queues = {unavailable(QueueReason::transport_bypasses),
                           unavailable(QueueReason::transport_bypasses),
                           unavailable(QueueReason::not_provided)};
  EXPECT_EQ(lines_with(text_of(dump), "  sends, receives: unavailable: transport ob1 bypasses"),
            1U);
}

TEST(Text, PendingOnesAreCountedAndCompleteOnesApart) {
  for (const int ranks : {2, 10}) {
    Dump dump = ring_dump(ranks);
    for (RankDump& rank : dump.ranks) {
      Operation done = pending(0, 5, 8);
      done.status = OpStatus::complete;
      Operation matched = pending(0, 6, 8);
      matched.status = OpStatus::matched;
      Queue& receives = rank.communicators[0].queue(OpClass::receive);
      receives = available({pending(0, 1, 8), done, matched, done, done});
      Queue& messages = rank.communicators[0].queue(OpClass::unexpected);
      messages = available({done}); // has come, and waits for a receive
    }
    const std::string text = text_of(dump);
    EXPECT_THAT(text, HasSubstr("  2, 3 done      1  ok\n")) << text;
    dump.ranks[0].communicators[0].queue(OpClass::receive).total = 100;
    EXPECT_THAT(text_of(dump), HasSubstr("  2/100, 3 done      1  ok\n"));
    auto& operations = dump.ranks[0].communicators[0].queue(OpClass::receive).operations;
    operations[0].status = OpStatus::inactive;
    operations[1].status = OpStatus::unknown;
    EXPECT_THAT(text_of(dump), HasSubstr("  1/100, 2 done, 1 inactive, 1 unknown      1  ok\n"));
  }
}

TEST(Text, ALongQueueIsRunsOfAlikeOperations) {
  Dump dump = ring_dump(1);
  std::vector<Operation> operations;
  for (int i = 0; i < 3000; ++i)
    operations.push_back(pending(1, i, 8));
  for (int i = 0; i < 30; ++i)
    operations.push_back(pending(2, 7, 8));
  operations.push_back(pending(1, 3000, 8));
  dump.ranks[0].communicators[0].queue(OpClass::receive) = available(operations);
  EXPECT_THAT(
      text_of(dump),
      HasSubstr("    QUEUE  STATUS   PEER(local)  TAG           SIZE  BUFFER\n"
                "    recv   pending  1            0-2999  3000 x 8 B  same peer and size  "
                "(--show all)\n"
                "    recv   pending  2            7         30 x 8 B  same peer, tag and size  "
                "(--show all)\n"
                "    recv   pending  1            3000           8 B  0x1000\n"));
}

TEST(Text, OperationsComeInTheOrderOfTheirSequence) {
  Dump dump = ring_dump(1);
  std::vector<Operation> operations;
  for (const std::uint32_t i : {3U, 2U, 1U, 0U, 6U, 5U, 4U}) {
    operations.push_back(pending(0, i, 8));
    operations.back().sequence = 100 + i;
  }
  Queue& receives = dump.ranks[0].communicators[0].queue(OpClass::receive);
  receives = available(operations);
  EXPECT_THAT(text_of(dump, {.show = 3}), HasSubstr("  0-6  7 x 8 B  "));
  receives.operations[0].sequence.reset(); // not started again
  EXPECT_THAT(text_of(dump, {.show = 3}), HasSubstr("  0-2,4-6,3  7 x 8 B  "));
  for (Operation& operation : receives.operations)
    operation.sequence.reset();
  EXPECT_THAT(text_of(dump, {.show = 3}), HasSubstr("  3-0:-1,6-4:-1  7 x 8 B  "));
  // Of sends: those to one peer.
  operations[1].peer.local_rank = operations[5].peer.local_rank = 1;
  operations[1].peer.global_rank = operations[5].peer.global_rank = 1;
  Queue& sends = dump.ranks[0].communicators[0].queue(OpClass::send);
  sends = available(operations);
  const std::string text = text_of(dump, {.show = 3});
  EXPECT_EQ(lines_with(text, "send   pending  0            0-1,3-4,6 "), 1U) << text;
  EXPECT_EQ(lines_with(text, "send   pending  1            2,5 "), 1U) << text;
}

TEST(Text, AlikeOperationsBetweenOthersAreFoldedWhereRunsAreTooMany) {
  Dump dump = ring_dump(1);
  std::vector<Operation> operations;
  for (int i = 0; i < 100; ++i)
    operations.push_back(pending(i % 2, i, 8));
  dump.ranks[0].communicators[0].queue(OpClass::receive) = available(operations);
  const std::string text = text_of(dump);
  EXPECT_EQ(lines_with(text, "0-98:2  50 x 8 B"), 1U) << text;
  EXPECT_EQ(lines_with(text, "1-99:2  50 x 8 B"), 1U);
}

TEST(Text, TagsOfEveryKindCanBeRuns) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::pair<std::vector<std::int64_t>, std::string> cases[] = {
      {{-16, -16, -12}, " -16,-16,-12 "},
      {{9, 8, 7}, " 9-7:-1 "},
      {{1, 3, 5, 40, 2, 77, 4}, " 1-5:2,40,2 and 2 more "},
      {{-most, 0, most}, fmt::format(" {}-{}:{} ", -most, most, most)},
      {{most, -most, most}, fmt::format(" {0},-{0},{0} ", most)}};
  for (const auto& [tags, shown] : cases) {
    Dump dump = ring_dump(1);
    std::vector<Operation> operations;
    for (const auto tag : tags)
      operations.push_back(pending(0, tag, 8));
    dump.ranks[0].communicators[0].queue(OpClass::receive) = available(operations);
    EXPECT_THAT(text_of(dump, {.show = 1}), HasSubstr(shown));
  }
}

/// Ranks on a hundred nodes, one of which refuses and one of which says nothing.
Dump dump_of_many(int count) {
  Dump dump = ring_dump(count);
  for (int i = 0; i < count; ++i) {
    RankDump& rank = dump.ranks[static_cast<std::size_t>(i)];
    const int node = 1 + i / (count / 100);
    rank.host = fmt::format("n{:03}", node);
    rank.pid = 4000 + i;
    rank.endpoint = fmt::format("ssh:{}:{}", *rank.host, *rank.pid);
    rank.communicators[0].group.reset();
    if (node != 17 && node != 60)
      continue;
    rank.communicators.clear();
    rank.platform.reset();
    rank.mpi.reset();
    rank.stopped_ms.reset();
    rank.status = RankStatus::failed;
    rank.errors = {{node == 17 ? "ssh.denied" : "connect.timeout", RankError::Level::error,
                    node == 17 ? "n017: Permission denied" : "n060: no answer for 10 s", ""}};
  }
  return dump;
}

TEST(Text, ThousandsOfRanksAreAFewRows) {
  const auto text = text_of(dump_of_many(1000), {.exit_status = 1});
  expect_narrow(text);
  EXPECT_EQ(text, R"(mqbridge dump   1000 ranks, 980 complete, 20 FAILED

no room for PLATFORM = x86_64 LE64
RANKS          N  HOSTS     MPI (transport)       HELD  SEND  RECV  UNEXP  STATUS
0-158:2,...  490  98 hosts  Open MPI 4.1.4 (ob1) >22ms     0     1    n/a  ok
1-159:2,...  490  98 hosts  Open MPI 4.1.4 (ob1) >22ms     1     1    n/a  ok
160-169       10  n017      -                        -     ?     ?      ?  FAILED ssh.denied
590-599       10  n060      -                        -     ?     ?      ?  FAILED connect.timeout

Ranks 0-158:2,170-588:2,600-998:2
  C1 MPI_COMM_WORLD: recv 1

Ranks 1-159:2,171-589:2,601-999:2
  C1 MPI_COMM_WORLD: send 1, recv 1

  unexpected messages: not provided by Open MPI (unknown, not empty)

Ranks 160-169  on n017  ssh.denied
  n017: Permission denied

Ranks 590-599  on n060  connect.timeout
  n060: no answer for 10 s
exit 1: 20 of 1000 ranks failed
)");
}

/// A row for each number of operations would be hundreds.
TEST(Text, OfThousandsOfRanksThatAllDifferTheNumbersAreRanges) {
  Dump dump = dump_of_many(5000);
  for (RankDump& rank : dump.ranks)
    if (!rank.communicators.empty())
      rank.communicators[0].queue(OpClass::receive) = available(
          std::vector<Operation>(static_cast<std::size_t>(*rank.rank) % 97, pending(0, 17, 8)));
  dump.ranks[7].communicators[0].queue(OpClass::receive).state = QueueState::error;
  const auto text = text_of(dump);
  expect_narrow(text);
  EXPECT_THAT(text,
              HasSubstr("\n0-799,...  4900  98 hosts  Open MPI 4.1.4 (ob1) >22ms   0-1  0-96"));
  EXPECT_THAT(text, HasSubstr("0-96,"));
  EXPECT_THAT(text, HasSubstr("\nRanks 0-799,850-2949,3000-4999\n  the queues of these ranks "
                              "differ: --rank LIST shows those of some, --full of all\n"));
  EXPECT_THAT(text, Not(HasSubstr("MPI_COMM_WORLD")));
  EXPECT_LT(lines_with(text, ""), 40U);
}

TEST(Text, RankListsOfManyRangesFitTheLine) {
  Dump dump = dump_of_many(5000);
  for (std::size_t i = 3; i < dump.ranks.size(); i += 7)
    dump.ranks[i].errors = {{"dll.version", RankError::Level::warning, "another version", ""}};
  expect_narrow(text_of(dump));
}

/// Of operations that are alike only in what is not known of them.
TEST(Text, WhatIsNotKnownIsNotTheSame) {
  Dump dump = ring_dump(1);
  std::vector<Operation> operations(30, pending(1, 7, 8));
  for (Operation& operation : operations)
    operation.tag.value.reset();
  dump.ranks[0].communicators[0].queue(OpClass::receive) = available(operations);
  EXPECT_THAT(text_of(dump), HasSubstr(" ?    30 x 8 B  same peer and size  (--show all)\n"));
}

TEST(Text, EqualErrorsOfSeveralRanksAreOne) {
  Dump dump = ring_dump(4);
  for (std::size_t i = 0; i < 4; ++i) {
    RankDump& rank = dump.ranks[i];
    rank.endpoint = fmt::format("node{}:700{}@123{}", i, i, i);
    rank.pid = 1230 + static_cast<std::int64_t>(i);
    rank.errors = {{"dll.version", RankError::Level::warning, "another version", "none"}};
    if (i == 0)
      continue;
    rank.status = RankStatus::failed;
    rank.communicators.clear();
    rank.errors.push_back({"ptrace.denied", RankError::Level::error,
                           fmt::format("{}: cannot attach to {}.", rank.endpoint, *rank.pid),
                           fmt::format("on node{}: sysctl", i)});
  }
  const std::string text = text_of(dump);
  EXPECT_THAT(text,
              HasSubstr("\n\nRanks 0-3  warning dll.version\n  another version\n"
                        "  fix: none\n"
                        "\nRanks 1-3  ptrace.denied\n"
                        "  node1:7001@1231: cannot attach to 1231.\n"
                        "  fix: on node1: sysctl\n"
                        "  (of rank 1; the others each name their own endpoint and process)\n"));
  EXPECT_EQ(lines_with(text, "Rank "), 1U) << "those that failed alike have no part of their own";
  dump.ranks[2].errors.back().message = "no such process";
  EXPECT_THAT(text_of(dump), HasSubstr("\nRank 2  FAILED  n017 pid 1232  ptrace.denied  "));
  EXPECT_THAT(text_of(dump), HasSubstr("\nRanks 1,3  ptrace.denied\n"));
}

/// The two commands of an endpoint are not the same word.
TEST(Text, WhichCommandWasNotFoundTellsErrorsApart) {
  Dump dump = ring_dump(4);
  for (std::size_t i = 0; i < 4; ++i) {
    RankDump& rank = dump.ranks[i];
    rank.endpoint = fmt::format("exec:ssh node{} gdbserver --attach - {}", i, 500 + i);
    rank.status = RankStatus::failed;
    rank.communicators.clear();
    rank.errors = {{"connect.command", RankError::Level::error,
                    fmt::format("{}: command not found on node{}", i < 2 ? "ssh" : "gdbserver", i),
                    ""}};
  }
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("Ranks 0,1  connect.command\n  ssh: command not found on node0\n"));
  EXPECT_THAT(text,
              HasSubstr("Ranks 2,3  connect.command\n  gdbserver: command not found on node2\n"));
}

TEST(Text, FoldedRanksWithOtherWordsAreNotSaidToHaveTheFirstOnes) {
  Dump dump = ring_dump(12);
  for (std::size_t i = 0; i < 4; ++i) {
    RankDump& rank = dump.ranks[8 + i];
    rank.status = RankStatus::failed;
    rank.communicators.clear();
    const std::string what = i < 2 ? "disk full" : i == 2 ? "no such file" : "not a file";
    rank.errors = {{"image.read", RankError::Level::error, what, ""}};
  }
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("Ranks 8,9  image.read\n  disk full\n"));
  EXPECT_THAT(text, HasSubstr("Ranks 8-11  image.read\n  no such file\n"
                              "  (of rank 10; the others' words differ: --full)\n"));
  EXPECT_THAT(text_of(dump, {.full = true}), HasSubstr("not a file\n"));
}

TEST(Text, WhatIsNeverListedIsSaidOnceOfFoldedRanks) {
  Dump dump = ring_dump(9);
  for (RankDump& rank : dump.ranks) {
    rank.dll->provider = "mpich";
    rank.communicators[0].queue(OpClass::unexpected) = available({});
  }
  dump.ranks[0].communicators[0].queue(OpClass::send) = available({});
  const std::string text = text_of(dump);
  EXPECT_EQ(lines_with(text, "  sends: blocking sends are not listed"), 1U) << text;
  EXPECT_EQ(lines_with(text, "  unexpected messages: those not polled yet are not listed"), 1U);
  EXPECT_EQ(lines_with(text_of(ring_dump(9)), "  unexpected messages: not provided by"), 1U);
}

/// Every line fits, no cell is cut, and what there is no room for is named.
TEST(Text, FitsANarrowTerminal) {
  for (const std::size_t width : {60U, 80U, 100U, 140U})
    for (Dump dump : {sample_dump(), ring_dump(8), ring_dump(64)}) {
      dump.ranks.front().errors.push_back(
          {"target.stopped", RankError::Level::warning, "it was stopped", "kill -CONT 41822"});
      const std::string text = text_of(dump, {.stats = true, .width = width, .exit_status = 1});
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);)
        EXPECT_LE(line.size(), width) << line;
      EXPECT_THAT(text, HasSubstr("ok, 1 warning\n"));
      EXPECT_EQ(text.find("..."), std::string::npos) << text;
    }
  const std::string narrow = text_of(sample_dump(), {.width = 60});
  EXPECT_THAT(narrow, HasSubstr("\nno room for PID, PLATFORM,\n"
                                "  MPI (transport) = Open MPI 4.1.4 (ob1)\nRANK HOST "))
      << narrow;
  EXPECT_THAT(narrow, HasSubstr("FAILED ptrace.denied\n"));
}

TEST(Text, NothingUnknownLooksEmpty) {
  struct Case {
    QueueState state;
    QueueReason reason;
    TruncatedBy truncated;
    const char* count; ///< in the table
    const char* line;
    bool of_the_rank = false; ///< said once for all communicators
  };
  const Case cases[] = {
      {QueueState::unavailable, QueueReason::transport_bypasses, TruncatedBy::nothing, "n/a",
       "unavailable: transport ob1 bypasses the DLL (unknown, not empty)", true},
      {QueueState::error, QueueReason::dll_failed, TruncatedBy::nothing, "?",
       "error: the DLL failed (unknown, not empty)"},
      {QueueState::not_requested, QueueReason::not_requested, TruncatedBy::nothing, "-",
       "not asked for (--queue)", true},
      {QueueState::available, QueueReason::none, TruncatedBy::max_stop, "?",
       "cut off by --max-stop"},
      {QueueState::available, QueueReason::none, TruncatedBy::operations, "?",
       "cut off by --max-operations"},
      {QueueState::available, QueueReason::none, TruncatedBy::time, "?",
       "cut off: the walk took too long"},
      {QueueState::available, QueueReason::none, TruncatedBy::bytes, "?", "cut off by --max-bytes"},
  };
  for (const Case& c : cases) {
    Dump dump = ring_dump(1);
    Queue& sends = dump.ranks[0].communicators[0].queue(OpClass::send);
    sends = Queue{c.state, c.reason, {}, {}, c.truncated, {}};
    const std::string text = text_of(dump);
    EXPECT_THAT(text, HasSubstr((c.of_the_rank ? "  sends: " : "    send   ") +
                                std::string(c.line) + "\n"));
    EXPECT_EQ(lines_with(text, ": empty"), 0U);
    std::istringstream in(text);
    std::string row;
    for (int i = 0; i < 4; ++i)
      std::getline(in, row);
    std::istringstream cells(row.substr(row.find(">22ms") + 5));
    std::string count;
    cells >> count;
    EXPECT_EQ(count, c.count) << row;
  }
}

TEST(Text, MpiProcNullIsNoRank) {
  Dump dump = sample_dump();
  Operation& send = dump.ranks[0].communicators[0].queue(OpClass::send).operations[0];
  send.peer = {false, proc_null, std::nullopt};
  EXPECT_EQ(lines_with(text_of(dump), "send   pending  NULL         17 "), 1U);
}

TEST(Text, TheRecordersNameIsWhole) {
  Dump dump = sample_dump();
  dump.ranks[0].mpi->name = "mqbridge recorder";
  dump.ranks[0].mpi->version = "1.0";
  dump.ranks[0].dll->provider = "recorder";
  dump.ranks[0].mpi->transport.reset();
  EXPECT_THAT(text_of(dump), HasSubstr("  mqbridge recorder 1.0 "));
}

TEST(Text, CutQueuesShowWhatIsThere) {
  Dump dump = ring_dump(1);
  Queue& receives = dump.ranks[0].communicators[0].queue(OpClass::receive);
  receives.truncated_by = TruncatedBy::operations;
  receives.total.reset();
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("  1+    n/a"));
  EXPECT_THAT(text, HasSubstr("recv   cut off by --max-operations\n"));
}

TEST(Text, FiltersAreNamedAndCounted) {
  Dump dump = sample_dump();
  dump.filters.tags = {17};
  dump.filters.communicators = {"row\x1b"};
  Queue& receives = dump.ranks[1].communicators[0].queue(OpClass::receive);
  receives.operations.truncate(3);
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("shown only: comm \"row\\x1b\"; tag 17\n"));
  EXPECT_THAT(text, HasSubstr("  3/1000  "));
  EXPECT_THAT(text, HasSubstr("recv   3 of 1000 shown (filters)\n"));
}

TEST(Text, ShowSetsHowManyOperationsAQueueGets) {
  Dump dump = sample_dump();
  EXPECT_EQ(lines_with(text_of(dump, {.show = std::nullopt}), "    recv   pending  2   "), 1000U);
  ChunkedList<Operation>& receives =
      dump.ranks[1].communicators[0].queue(OpClass::receive).operations;
  for (std::size_t i = 0; i < receives.size(); ++i)
    receives[i].peer.local_rank = receives[i].peer.global_rank = static_cast<std::int64_t>(i % 500);
  const std::string text = text_of(dump, {.show = 5});
  EXPECT_EQ(lines_with(text, "2 x 8 B"), 5U);
  EXPECT_THAT(text, HasSubstr("    recv   and 990 more  (--show all)\n"));
}

TEST(Text, TwentyAlikeAreNotFolded) {
  Dump dump = ring_dump(1);
  dump.ranks[0].communicators[0].queue(OpClass::receive) =
      available(std::vector<Operation>(20, pending(0, 1, 8)));
  EXPECT_EQ(lines_with(text_of(dump), "0x1000"), 20U);
  dump.ranks[0].communicators[0].queue(OpClass::receive).operations.push_back(pending(0, 1, 8));
  EXPECT_EQ(lines_with(text_of(dump), "21 x 8 B"), 1U);
}

TEST(Text, RawShowsTheDllsValues) {
  const std::string text = text_of(sample_dump(), {.raw = true});
  EXPECT_THAT(text, HasSubstr("DLL: tag_wild 0, desired_tag 4294967295; Request: 0x5590\n"));
  EXPECT_THAT(text, HasSubstr("  * repaired: sign extension\n"));
}

TEST(Text, ARankWithoutAHostIsWhereItsEndpointLeads) {
  const std::pair<const char*, const char*> cases[] = {
      {"serial:/dev/ttyUSB0", " ttyUSB0 "},
      {"serial:/dev/pts/3:115200", " pts/3 "},
      {"serial:/dev/pts/3", " pts/3 "},
      {"serial:/tmp/line:9600", " /tmp/line "},
      {"serial:/dev/serial/by-id/usb-0:1.2", " ...-id/usb-0:1.2 "},
      {"serial:", "  "},
      {"exec:/usr/bin/ssh $N gdbserver --attach - 1", " exec:ssh "},
      {"exec:openocd", " exec:openocd "},
      {"exec:\x1b[31m", " exec:\\x1b[31m "},
      {"unix:/run/stub", " unix:/run/stub "}};
  for (const auto& [endpoint, shown] : cases) {
    Dump dump = ring_dump(1);
    dump.ranks[0].host.reset();
    dump.ranks[0].endpoint = endpoint;
    EXPECT_THAT(text_of(dump, {.summary = true}), HasSubstr(shown)) << endpoint;
  }
}

TEST(Text, TheErrorOfTheHeadingComesBeforeWarnings) {
  Dump dump = ring_dump(1);
  dump.ranks[0].status = RankStatus::failed;
  dump.ranks[0].communicators.clear();
  dump.ranks[0].errors = {{"image.missing", RankError::Level::warning, "files are missing", ""},
                          {"mpi.not_found", RankError::Level::error, "no MPI", "look"},
                          {"detach.failed", RankError::Level::error, "no answer", ""}};
  EXPECT_THAT(text_of(dump), HasSubstr("\n  no MPI\n  fix: look\n"
                                       "  warning image.missing: files are missing\n"
                                       "  detach.failed: no answer\n"));
}

TEST(Text, OneStopIsNotSpread) {
  Dump dump = ring_dump(2);
  dump.skew_ms = 0;
  EXPECT_THAT(text_of(dump), HasSubstr("stops spread"));
  dump.ranks[1].stopped_ms.reset();
  EXPECT_THAT(text_of(dump), Not(HasSubstr("stops spread")));
}

TEST(Text, ManyRanksFoldIntoGroups) {
  Dump dump = ring_dump(512);
  dump.ranks[7].status = RankStatus::failed;
  dump.ranks[7].communicators.clear();
  dump.ranks[7].errors = {
      {"ptrace.denied", RankError::Level::error, "not permitted", "become root"}};
  const std::string text = text_of(dump, {.exit_status = 1});
  EXPECT_THAT(text, HasSubstr("0-510:2        256  x86_64"));
  EXPECT_THAT(text, HasSubstr("1,3,5,9-511:2  255  x86_64"));
  EXPECT_THAT(text, HasSubstr("Ranks 1,3,5,9-511:2\n  C1 MPI_COMM_WORLD: send 1, recv 1\n"));
  EXPECT_THAT(text, HasSubstr("Rank 7  ptrace.denied\n  not permitted\n  fix: become root\n"));
  EXPECT_LT(lines_with(text, ""), 20U);
  EXPECT_EQ(lines_with(text_of(dump, {.full = true}), "Rank "), 512U);
}

TEST(Text, CommunicatorsOfEachRanksOwnDoNotKeepRanksApart) {
  Dump dump = ring_dump(10);
  for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
    Communicator self = world(0, 1);
    self.name = "MPI_COMM_SELF";
    self.key = "C" + std::to_string(2 + i);
    self.queue(OpClass::receive) = available({pending(0, 1, 8)});
    dump.ranks[i].communicators.push_back(self);
  }
  EXPECT_THAT(text_of(dump), HasSubstr("Ranks 0-8:2\n"
                                       "  C1 MPI_COMM_WORLD: recv 1; MPI_COMM_SELF: recv 1\n"));
}

TEST(Text, WhoIsInACommunicatorAndWhoseItsNameIs) {
  Dump dump = sample_dump();
  auto& communicators = dump.ranks[0].communicators;
  communicators.resize(1);
  Communicator other = communicators[0];
  other.queues = {available({}), available({}), unavailable(QueueReason::not_provided)};
  other.named_by_mpi = false;
  communicators.push_back(other);
  other.kind = CommunicatorKind::inter;
  other.named_by_mpi = true;
  other.name = "MPI COMMUNICATOR 3 DUP FROM 0";
  other.internal = true;
  other.remote.ranks = {3, 4, 5};
  communicators.push_back(other);
  other.group.reset();
  other.members = {{"1:a", 0}, {"1:a", 1}, {"2:b", 0}};
  other.remote = {std::nullopt, {{"2:b", 7}}};
  other.internal = false;
  communicators.push_back(other);
  other.remote = {};
  communicators.push_back(other);
  const std::string text = text_of(dump, {.width = 160});
  EXPECT_THAT(text, HasSubstr("C1 MPI_COMM_WORLD                  rank 0 of 3\n"));
  EXPECT_THAT(text, HasSubstr("C1 \"MPI_COMM_WORLD\"                rank 0 of 3   send"));
  EXPECT_THAT(text, HasSubstr("C1 MPI COMMUNICATOR 3 DUP FROM 0   rank 0 of 3   internal   to "
                              "global ranks 3-5   send"));
  EXPECT_THAT(text, HasSubstr("   of job 1 ranks 0,1, job 2 ranks 0   to job 2 ranks 7   send"));
  EXPECT_THAT(text, HasSubstr("   of job 1 ranks 0,1, job 2 ranks 0   to another group   send"));
}

TEST(Text, AProcessInMpiFinalizeShowsWhatIsThere) {
  Dump dump = ring_dump(2);
  dump.ranks[0].mpi->state = MpiState::finalizing;
  dump.ranks[1].mpi->state = MpiState::finalized;
  dump.ranks[1].communicators.clear();
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("  ok, finalizing\n"));
  EXPECT_THAT(text, HasSubstr("\n  in MPI_Finalize: what it has not freed yet\n  C1 MPI_COMM_W"));
  EXPECT_THAT(text, HasSubstr("  ok, finalized\n"));
  EXPECT_THAT(text, HasSubstr("\n  MPI is finalized: there are no queues any more\n"));
  dump.ranks[1].mpi->state = MpiState::finalizing;
  EXPECT_THAT(text_of(dump), HasSubstr("\n  MPI_Finalize has freed the communicators: "));
}

TEST(Text, EightRanksAreShownInFull) {
  EXPECT_EQ(lines_with(text_of(ring_dump(8)), "Rank "), 8U);
  EXPECT_EQ(lines_with(text_of(ring_dump(9)), "Rank "), 0U);
}

TEST(Text, SeparateJobsAreToldApart) {
  Dump dump = ring_dump(2);
  dump.ranks[0].job_id = "1:solver";
  dump.ranks[1].job_id = "2:solver";
  dump.ranks[1].rank = 0;
  dump.ranks.push_back(dump.ranks[1]);
  dump.ranks[2].rank.reset();
  dump.ranks[2].job_id.reset();
  const std::string text = text_of(dump, {.stats = true});
  EXPECT_THAT(text, HasSubstr(" ranks of several jobs, "));
  EXPECT_THAT(text, HasSubstr("STATUS\nJob 1 (solver)\n   0 n017"));
  EXPECT_THAT(text, HasSubstr("\nJob 2 (solver)\n   0 n017"));
  EXPECT_THAT(text, HasSubstr("\nJob not known\n   - n017"));
  EXPECT_THAT(text, HasSubstr("\nRank 0 of job 2  ./solver"));
  EXPECT_THAT(text, HasSubstr("\n 2:0  connect"));
}

TEST(Text, ATargetWithoutARankHasItsEndpointAndProcess) {
  Dump dump = sample_dump();
  dump.ranks[2].rank.reset();
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("\n   - n019   3312  -  "));
  EXPECT_THAT(text, HasSubstr("\nRank -  FAILED  n019:7001@3312 pid 3312  ptrace.denied\n"));
}

TEST(Text, FoldedTargetsWithoutARankAreNamed) {
  Dump dump = ring_dump(12);
  for (std::size_t i = 10; i < 12; ++i) {
    dump.ranks[i].rank.reset();
    dump.ranks[i].endpoint = "local:" + std::to_string(i);
    dump.ranks[i].pid = static_cast<std::int64_t>(i);
    dump.ranks[i].status = RankStatus::failed;
    dump.ranks[i].communicators.clear();
    dump.ranks[i].errors = {{"mpi.not_found", RankError::Level::error, "no MPI", ""}};
  }
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("\n-      2  x86_64"));
  EXPECT_THAT(text, HasSubstr("\nRanks -  mpi.not_found\n  local:10, local:11\n  no MPI\n"));
}

TEST(Text, ProcessesWithoutQueuesSayWhy) {
  Dump dump = ring_dump(1);
  dump.ranks[0].communicators.clear();
  dump.ranks[0].mpi->state = MpiState::not_initialized;
  EXPECT_THAT(text_of(dump), HasSubstr("  MPI is not initialized: there are no queues yet\n"));
  dump.ranks[0].errors = {
      {"mpi.not_initialized", RankError::Level::warning, "not yet: no queues", ""}};
  EXPECT_THAT(text_of(dump), Not(HasSubstr("MPI is not initialized"))) << "said twice";
  EXPECT_THAT(text_of(dump), HasSubstr("  warning mpi.not_initialized: not yet: no queues\n"));
  dump.ranks[0].errors.clear();
  dump.ranks[0].mpi->state = MpiState::initialized;
  dump.ranks[0].status = RankStatus::partial;
  EXPECT_THAT(text_of(dump), HasSubstr("  no communicator was read (unknown, not empty)\n"));
}

TEST(Text, CommunicatorsThatAFilterLeavesOutAreNotUnknown) {
  Dump dump = ring_dump(1);
  dump.ranks[0].communicators.clear();
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("  no communicator has a name that --comm gives\n"));
  EXPECT_THAT(text, Not(HasSubstr("unknown")));
  EXPECT_THAT(text, Not(HasSubstr("?")));
}

TEST(Text, WarningsAndOtherErrorsKeepTheirCodes) {
  Dump dump = ring_dump(1);
  dump.ranks[0].errors = {{"types.version", RankError::Level::warning, "another build", "none"}};
  const std::string text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("ok, 1 warning\n"));
  EXPECT_THAT(text, HasSubstr("  warning types.version: another build\n  fix: none\n"));
}

TEST(Text, StatisticsHavePhasesAndTotals) {
  const std::string text = text_of(sample_dump(), {.stats = true});
  EXPECT_THAT(text,
              HasSubstr("RANK  PHASE       MS  ROUND TRIPS  RECEIVED  SENT  REQUESTS  FETCHES"));
  EXPECT_THAT(text, HasSubstr("   1  connect   1.50            2       100\n"));
  EXPECT_THAT(text,
              HasSubstr("      total    25.50           60     10000  1200        80     1772"));
}

TEST(Text, StatisticsHaveTheOverReadAndTheLink) {
  Dump dump = sample_dump();
  dump.ranks.resize(2);
  Statistics& first = dump.ranks[0].statistics;
  first.pages_touched = 200;
  first.pages_read = 250;
  first.rtt_us = 417;
  first.bandwidth_bps = 92'160;
  Statistics& second = dump.ranks[1].statistics;
  second.pages_touched = 0;
  second.pages_read = 50;
  second.rtt_us = 50'000;
  second.bandwidth_bps = 8e8;
  const std::string text = text_of(dump, {.stats = true});
  EXPECT_THAT(text, HasSubstr("RANK  LOOKED AT  READ  OVER-READ  ROUND TRIP    IN BULK\n"
                              "   0        200   250       1.25     0.42 ms  11.5 kB/s\n"
                              "   1          0    50          -       50 ms   100 MB/s\n"
                              " all        200   300       1.50       50 ms  11.5 kB/s\n"));
  EXPECT_THAT(text_of(sample_dump(), {.stats = true}),
              HasSubstr("   1          -     -          -           -        -\n"));
}

TEST(Text, NamesCannotDriveTheTerminalOrTheWidth) {
  Dump dump = sample_dump();
  RankDump& rank = dump.ranks[0];
  rank.host = std::string(200, 'h');
  rank.executable = "\x1b]0;owned\x07" + std::string(300, 'e');
  rank.mpi->name = std::string(80, 'm');
  rank.communicators[1].name = "\x1b[2J" + std::string(100, 'c');
  rank.errors = {
      {"x.y", RankError::Level::warning, std::string(50, 'w') + " " + std::string(60, 'v'), ""}};
  const std::string text = text_of(dump, {.raw = true, .stats = true});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  expect_narrow(text);
}

TEST(Text, ColourIsOffUnlessAsked) {
  EXPECT_THAT(text_of(sample_dump()), Not(HasSubstr("\033")));
  EXPECT_THAT(text_of(sample_dump(), {.color = true}),
              HasSubstr("\033[1;31mFAILED ptrace.denied\033[0m"));
}

TEST(Text, ExitLines) {
  Dump dump = ring_dump(2);
  EXPECT_THAT(text_of(dump), Not(HasSubstr("exit")));
  dump.ranks[1].status = RankStatus::partial;
  EXPECT_THAT(text_of(dump, {.exit_status = 1}), HasSubstr("\nexit 1: 1 of 2 ranks partial\n"));
  dump.ranks[0].status = RankStatus::failed;
  EXPECT_THAT(
      text_of(dump, {.exit_status = 130}),
      HasSubstr(
          "\nexit 130: interrupted, every target released: 1 of 2 ranks failed, 1 partial\n"));
}

TEST(DoctorText, ChecklistWithFixes) {
  const Checklist checklist{
      "n017:7001",
      {{Check::Level::ok, "reach", "tcp, round trip 0.4 ms", {}},
       {Check::Level::limit,
        "transport",
        "pml=ucx bypasses the DLL: send and receive queues unavailable",
        {"rerun: mpirun --mca pml ob1 ..."}},
       {Check::Level::fault,
        "types",
        "libmpi.so.40 build-id 3f9c01 has no DWARF; no pack matches",
        {"apt install libopenmpi-dev", "mqbridge types make --mpi openmpi -o ompi.types"}},
       {Check::Level::skip, "queues", "needs types", {}},
       {Check::Level::plan, "dump", "about 0.1 s, target held 40 ms", {}}},
      false};
  EXPECT_EQ(
      written([&](const Sink& sink) { write_text(checklist, TextOptions{}, sink); }),
      R"(mqbridge doctor n017:7001                         1 FAULT, 1 LIMIT: queues not readable yet
ok     reach      tcp, round trip 0.4 ms
LIMIT  transport  pml=ucx bypasses the DLL: send and receive queues unavailable
       fix        rerun: mpirun --mca pml ob1 ...
FAULT  types      libmpi.so.40 build-id 3f9c01 has no DWARF; no pack matches
       fix        apt install libopenmpi-dev
                  mqbridge types make --mpi openmpi -o ompi.types
skip   queues     needs types
plan   dump       about 0.1 s, target held 40 ms
)");
}

TEST(DoctorText, FitsANarrowTerminal) {
  const Checklist checklist{"local:41822",
                            {{Check::Level::ok,
                              "reach",
                              std::string(20, 'r') + " and more of it that is said in many words",
                              {}}},
                            true};
  const std::string text =
      written([&](const Sink& sink) { write_text(checklist, TextOptions{.width = 40}, sink); });
  EXPECT_THAT(text, testing::StartsWith("mqbridge doctor local:41822\n  queues readable\n"));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    EXPECT_LE(line.size(), 40U) << line;
}

} // namespace
} // namespace mqbridge::test
