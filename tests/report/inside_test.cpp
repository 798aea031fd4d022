#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"
#include "tests/report/report_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_width(const std::string& text, std::size_t width) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    EXPECT_LE(line.size(), width) << line;
}

Operation by_mqbridge(std::int64_t peer, std::int64_t tag, std::int64_t length) {
  Operation operation = pending(peer, tag, length);
  operation.source = OpSource::mqbridge;
  operation.buffer.reset();
  operation.text = {};
  operation.raw = {};
  return operation;
}

Operation inside(Collective collective, std::int64_t peer) {
  Operation operation = by_mqbridge(peer, -12, 8);
  operation.collective = collective;
  return operation;
}

Operation message(std::int64_t peer, std::int64_t tag, Protocol protocol = Protocol::eager) {
  Operation operation = by_mqbridge(peer, tag, 64);
  operation.kind = OpKind::message;
  operation.protocol = protocol;
  return operation;
}

Operation waited(Operation operation, const Waited& by) {
  operation.waited = by;
  return operation;
}

/// One rank of Open MPI that mqbridge read all queues of.
class InsideText : public testing::Test {
protected:
  InsideText() {
    dump_.job_size = 4;
    dump_.ranks = {complete_rank(2)};
    dump_.ranks[0].communicators = {world(2, 4)};
    queue(OpClass::unexpected) = available({});
  }

  Communicator& world_of(std::size_t rank = 0) { return dump_.ranks[rank].communicators[0]; }
  Queue& queue(OpClass op_class, std::size_t rank = 0) { return world_of(rank).queue(op_class); }

  Dump dump_;
};

/// docs/reference/output.md, "A rank inside a collective".
TEST_F(InsideText, ARankInsideACollectiveShowsItsOwnOperationsAndThatItWaits) {
  std::vector<Operation> receives;
  for (int tag = 20; tag < 24; ++tag)
    receives.push_back(
        waited(pending(1, tag, 100), Waited{.group = 1, .count = 1, .mode = WaitMode::any}));
  receives.insert(receives.begin() + 2, inside(Collective::allreduce, 3));
  queue(OpClass::receive) = available(receives);
  queue(OpClass::unexpected) = available({message(0, 71)});
  const std::string text = text_of(dump_, {.show = 3});
  EXPECT_THAT(text, HasSubstr(R"(
Rank 2  ./solver   DLL libompi_dbg_msgq.so
  C1 MPI_COMM_WORLD   rank 2 of 4
    QUEUE  STATUS   PEER(local)  TAG         SIZE  BUFFER
    inside allreduce: waits for 3
    send   none that the debug DLL lists
    recv   pending  1            20-23  4 x 100 B  waited: any 1 of 4  (--show all)
    unexp  arrived  0            71          64 B  eager  (read by mqbridge from ob1)
  unexpected messages: those not polled yet are not listed
)"));
  EXPECT_THAT(text, HasSubstr(" >22ms     0     4      1  ok, inside allreduce\n"));
  EXPECT_THAT(text, Not(HasSubstr("not provided")));
  expect_width(text, 100);
  const std::string all = text_of(dump_);
  for (int tag = 20; tag < 24; ++tag)
    EXPECT_THAT(all, HasSubstr(fmt::format(
                         "  1            {}   100 B  0x1000  waited: any 1 of 4\n", tag)));
}

TEST_F(InsideText, ARankWithNothingButACollectiveIsNotIdle) {
  queue(OpClass::receive) = available({inside(Collective::barrier, 3)});
  EXPECT_THAT(text_of(dump_), testing::EndsWith(R"(
Rank 2  ./solver   DLL libompi_dbg_msgq.so
  C1 MPI_COMM_WORLD   rank 2 of 4   send, recv: none that the debug DLL lists   unexp: none arrived
    inside barrier: waits for 3
  unexpected messages: those not polled yet are not listed
)")) << text_of(dump_);
  EXPECT_THAT(text_of(dump_), Not(HasSubstr("QUEUE  STATUS")));
  EXPECT_THAT(text_of(dump_, {.summary = true}),
              HasSubstr(" >22ms     0     0      0  ok, inside barrier\n"));
}

TEST_F(InsideText, ACollectivesLineNamesAllPeersOnceAsRanges) {
  std::vector<Operation> receives;
  std::vector<Operation> sends;
  for (int i = 0; i < 10'000; ++i) {
    receives.push_back(inside(Collective::alltoall, i % 5000));
    sends.push_back(inside(Collective::alltoall, i % 5000 * 2));
  }
  sends.push_back(inside(Collective::bcast, 1));
  Operation received = inside(Collective::bcast, 7);
  received.status = OpStatus::complete;
  receives.push_back(received);
  queue(OpClass::receive) = available(receives);
  queue(OpClass::send) = available(sends);
  const std::string text = text_of(dump_);
  EXPECT_THAT(text, HasSubstr("\n    inside alltoall: waits for 0-4999, sends to 0-9998:2\n"
                              "    inside bcast: sends to 1\n"));
  EXPECT_THAT(text, HasSubstr(" >22ms     0     0      0  ok, inside alltoall, bcast\n"));
}

TEST_F(InsideText, PeersOfACollectiveAreGlobalAndLocalRanksAsInTheRows) {
  const auto peer = [](Peer whom) {
    Operation operation = inside(Collective::reduce, 0);
    operation.peer = whom;
    return operation;
  };
  const std::pair<std::vector<Operation>, const char*> cases[] = {
      {{peer({false, 0, 2})}, "waits for 2(0)"},
      {{peer({false, 2, 4}), peer({false, 0, 8}), peer({false, 1, 6})}, "waits for 8,6,4(0-2)"},
      {{peer({false, 3, {}}), peer({false, 1, 1})}, "waits for 1,?(3)"},
      {{peer({false, {}, {}})}, "waits for ?"},
      {{peer({true, {}, {}}), peer({false, 1, 1})}, "waits for any"}};
  for (const auto& [receives, words] : cases) {
    queue(OpClass::receive) = available(receives);
    EXPECT_THAT(text_of(dump_), HasSubstr(fmt::format("    inside reduce: {}\n", words)));
  }
}

TEST_F(InsideText, WhatIsNotKnownByNameSaysWhatItIs) {
  const std::pair<Collective, const char*> cases[] = {
      {Collective::nonblocking, "inside a nonblocking collective: waits for 1\n"},
      {Collective::neighbor, "inside a neighborhood collective: waits for 1\n"},
      {Collective::internal, "inside an operation of the MPI's own: waits for 1\n"},
      {Collective::reduce_scatter_block, "inside reduce_scatter_block: waits for 1\n"}};
  for (const auto& [collective, words] : cases) {
    queue(OpClass::receive) = available({inside(collective, 1)});
    EXPECT_THAT(text_of(dump_), HasSubstr("    " + std::string(words)));
  }
  queue(OpClass::receive) = available({inside(Collective::neighbor, 1)});
  EXPECT_THAT(text_of(dump_, {.summary = true}), HasSubstr("  ok, inside neighbor\n"));
  queue(OpClass::receive) = available({inside(Collective::nonblocking, 1)});
  EXPECT_THAT(text_of(dump_, {.summary = true}), HasSubstr("  ok\n")) << "it may be anywhere";
}

TEST_F(InsideText, MessagesOfCollectivesStandApart) {
  Operation first = message(1, -16);
  Operation second = message(2, -16);
  first.collective = second.collective = Collective::barrier;
  queue(OpClass::unexpected) = available({first, message(3, 7, Protocol::rendezvous), second});
  const std::string text = text_of(dump_);
  EXPECT_THAT(text, HasSubstr("    unexp  arrived  3            7    64 B  rendezvous  (read by "
                              "mqbridge from ob1)\n"
                              "    messages of barrier arrived: 2 from 1,2\n"));
  EXPECT_THAT(text, HasSubstr("  0     0      1  ok\n"));
  EXPECT_THAT(text, Not(HasSubstr("-16")));
}

TEST_F(InsideText, TenThousandUnexpectedMessagesAreOneRow) {
  std::vector<Operation> messages(10'000, message(1, 5));
  queue(OpClass::unexpected) = available(messages);
  EXPECT_THAT(text_of(dump_),
              HasSubstr("    unexp  arrived  1            5    10000 x 64 B  eager  (--show all)  "
                        "(read by mqbridge from ob1)\n"));
  messages.back().protocol = Protocol::rendezvous;
  queue(OpClass::unexpected) = available(messages);
  EXPECT_THAT(text_of(dump_), HasSubstr(" 9999 x 64 B  eager")) << "what is not alike stays apart";
}

TEST_F(InsideText, ABlockedProbeIsARowOfItsOwn) {
  Operation probe = waited(by_mqbridge(1, 5, 0), Waited{.group = 1, .count = 1});
  probe.kind = OpKind::probe;
  queue(OpClass::receive) = available({probe});
  EXPECT_THAT(text_of(dump_), HasSubstr("    recv   pending  1            5       -  -  MPI_Probe  "
                                        "(read by mqbridge from ob1)\n"));
  EXPECT_THAT(text_of(dump_), HasSubstr("  0     1      0  ok\n")) << "it is the program's own";
}

TEST_F(InsideText, WhatACallWaitsForIsSaidOfEachOperation) {
  struct Case {
    Waited by;
    const char* words;
  };
  const Case cases[] = {
      {Waited{.group = 1, .count = 1, .mode = WaitMode::any}, "waited: any 1 of 2\n"},
      {Waited{.group = 1, .count = 2, .mode = WaitMode::all}, "waited: all 2\n"},
      {Waited{.group = 1, .count = 5, .mode = WaitMode::all, .unseen = true},
       "waited: all 5, some unseen\n"},
      {Waited{.group = 1, .mode = WaitMode::all}, "waited: all\n"},
      {Waited{.group = 1, .mode = WaitMode::any}, "waited: any of 2\n"},
      {Waited{.group = 1, .count = 1}, "waited\n"},
      {Waited{.group = 1, .count = 1, .unseen = true}, "waited, perhaps more unseen\n"}};
  for (const auto& [by, words] : cases) {
    // Of one call, on two communicators, a send among them; another call waits for another one.
    queue(OpClass::receive) = available(
        {waited(pending(1, 1, 8), by), pending(1, 2, 8),
         waited(pending(1, 3, 8), Waited{.group = 2, .count = 1, .mode = WaitMode::any})});
    Communicator row = world(2, 4);
    row.queue(OpClass::send) = available({waited(pending(3, 4, 8), by)});
    dump_.ranks[0].communicators.resize(1);
    dump_.ranks[0].communicators.push_back(row);
    const std::string text = text_of(dump_);
    for (const char* start : {"recv   pending  1            1     8 B  0x1000  ",
                              "send   pending  3            4     8 B  0x1000  "})
      EXPECT_THAT(text, HasSubstr(std::string(start) + words));
    EXPECT_THAT(text, HasSubstr("  1            2     8 B  0x1000\n"));
    EXPECT_THAT(text, HasSubstr("  1            3     8 B  0x1000  waited: any 1 of 1\n"));
  }
}

/// Of operations that the document does not have nobody knows to which call they belong.
TEST_F(InsideText, WhereFiltersLeaveOperationsOutTheSizeOfTheirGroupIsNotSaid) {
  queue(OpClass::receive) =
      available({waited(pending(1, 1, 8), Waited{.group = 1, .count = 1, .mode = WaitMode::any})});
  queue(OpClass::receive).total = 4;
  EXPECT_THAT(text_of(dump_), HasSubstr("  waited: any 1\n"));
}

TEST_F(InsideText, ARowOfSeveralIsOfOneCall) {
  std::vector<Operation> receives;
  for (std::uint32_t i = 0; i < 40; ++i)
    receives.push_back(waited(pending(1, 9, 8),
                              Waited{.group = 1 + i / 20 * 6, .count = 20, .mode = WaitMode::all}));
  queue(OpClass::receive) = available(receives);
  const std::string text = text_of(dump_);
  const std::string row = "9    20 x 8 B  waited: all 20  (--show all)\n";
  const auto first = text.find(row);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find(row, first + 1), std::string::npos) << text;
}

TEST_F(InsideText, FiltersAreCountedOfTheProgramsOwn) {
  queue(OpClass::receive) = available({pending(1, 5, 8), inside(Collective::scan, 1)});
  queue(OpClass::receive).total = 4;
  queue(OpClass::send).total = 2; // none of which the filters left
  const std::string text = text_of(dump_);
  EXPECT_THAT(text, HasSubstr("   0/2   1/3      0  ok, inside scan\n")) << text;
  EXPECT_THAT(text, HasSubstr("    recv   1 of 3 shown (filters)\n"));
  EXPECT_THAT(text, HasSubstr("    send   0 of 2 shown (filters)\n"));
}

TEST_F(InsideText, WithoutTypesTheUnexpectedQueueSaysWhy) {
  queue(OpClass::unexpected) = unavailable(QueueReason::types_missing);
  queue(OpClass::receive) = available({pending(1, 5, 8)});
  const std::string text = text_of(dump_);
  EXPECT_THAT(text, HasSubstr("\n  unexpected messages: not provided by Open MPI: types of ob1 not "
                              "known (unknown, not empty)\n"));
  EXPECT_THAT(text, HasSubstr("  0     1    n/a  ok\n"));
}

TEST_F(InsideText, CountersAreALineInFullAlone) {
  world_of().counters =
      MessageCounters{65536, 9, {{0, 5, 3}, {1, 2, 0}, {2, std::nullopt, 7}, {3, 2, 3}}};
  queue(OpClass::receive) = available({pending(1, 5, 8)});
  EXPECT_THAT(text_of(dump_), Not(HasSubstr("messages (")));
  EXPECT_THAT(text_of(dump_, {.full = true}),
              HasSubstr("\n    messages (modulo 65536): sent 5 to 0, 2 to 1,3; arrived 7 from 2, 3 "
                        "from 0,3\n"));
  world_of().group.grow().resize(5000);
  std::iota(world_of().group.grow().begin(), world_of().group.grow().end(), 0);
  auto& peers = world_of().counters->peers;
  for (int i = 0; i < 5000; ++i)
    peers.push_back({i, i % 3000, 1});
  const std::string text = text_of(dump_, {.full = true});
  expect_width(text, 100);
  EXPECT_THAT(text, HasSubstr(", and fewer; arrived 7 from 2, 3 from 0,3, 1 from 0-4999\n"));
}

/// Each rank waits for another one, and has other messages of the barrier.
TEST_F(InsideText, ManyRanksInsideOneCollectiveAreOneGroup) {
  dump_ = ring_dump(64);
  for (std::size_t i = 0; i < dump_.ranks.size(); ++i) {
    world_of(i).queues = {available({}), available({}), available({})};
    if (i == 7)
      continue;
    const auto peer = static_cast<std::int64_t>(i ^ 1);
    queue(OpClass::receive, i) =
        available(std::vector<Operation>(1 + i % 3, inside(Collective::barrier, peer)));
    Operation early = message(peer, -16);
    early.collective = Collective::barrier;
    queue(OpClass::unexpected, i) = available(std::vector<Operation>(i % 2, early));
  }
  const std::string text = text_of(dump_);
  EXPECT_THAT(text, HasSubstr("\n0-6,8-63  63  x86_64 LE64  Open MPI 4.1.4 (ob1) >22ms     0     0"
                              "      0  ok, inside barrier\n"
                              "7          1  x86_64 LE64  Open MPI 4.1.4 (ob1) >22ms     0     0"
                              "      0  ok\n"));
  EXPECT_THAT(text, HasSubstr("\nRanks 0-6,8-63\n  C1 MPI_COMM_WORLD: inside barrier\n"));
  for (std::size_t i = 0; i < dump_.ranks.size(); ++i)
    for (Operation& operation : queue(OpClass::receive, i).operations)
      operation.peer = {false, 7, 7};
  EXPECT_THAT(text_of(dump_), HasSubstr("inside barrier (waits for 7)\n"));
}

} // namespace
} // namespace mqbridge::test
