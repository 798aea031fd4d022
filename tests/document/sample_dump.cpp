#include "tests/document/sample_dump.h"

namespace mqbridge::test {
namespace {

constexpr std::int64_t unsigned_minus_one = 4294967295;

Operation any_source_any_tag() {
  Operation op = pending(0, 0, 65536);
  op.peer = {true, {}, {}};
  op.tag = {true, {}};
  op.buffer = TargetAddress{0x7f1c4a20e010};
  op.repairs = {Repair::sign_extension};
  op.raw.desired_local_rank = -1;
  op.raw.desired_global_rank = -1;
  op.raw.tag_wild = 0;
  op.raw.desired_tag = unsigned_minus_one;
  return op;
}

RankDump first_rank() {
  RankDump rank = complete_rank(0);
  Communicator all = world(0, 3);
  Operation send = pending(1, 17, 4 << 20);
  send.buffer = TargetAddress{0x7f1c4b001010};
  send.actual = ActualMessage{1, 1, 17, 4 << 20};
  send.raw.actual_local_rank = send.raw.actual_global_rank = 1;
  send.raw.actual_tag = 17;
  send.raw.actual_length = 4 << 20;
  all.queue(OpClass::send) = available({send});
  all.queue(OpClass::receive) = available({any_source_any_tag()});

  Communicator row;
  row.id = TargetAddress{0x5590a1c0};
  row.key = "C2";
  row.name = "row";
  row.local_rank = 2;
  row.size = 3;
  row.group = {2, 1, 0};
  row.queues = {available({}), available({pending(2, 5, 8)}),
                unavailable(QueueReason::not_provided)};
  row.queue(OpClass::receive).operations[0].peer.local_rank = 0;
  row.queue(OpClass::receive).operations[0].raw.desired_local_rank = 0;
  row.queue(OpClass::receive).operations[0].buffer = TargetAddress{0x7ffd1180};
  rank.communicators = {all, row};
  return rank;
}

RankDump second_rank() {
  RankDump rank = complete_rank(1);
  rank.host = "n018";
  rank.pid = 3310;
  rank.platform = Platform{.architecture = "s390x", .byte_order = ByteOrder::big};
  rank.stopped_ms = 31;
  Communicator all = world(1, 3);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Operation op = pending(2, 40, 8);
    op.buffer = TargetAddress{0x1000 + 8 * i};
    all.queue(OpClass::receive).operations.push_back(op);
  }
  all.queue(OpClass::receive).total = 1000;
  rank.communicators = {all};
  return rank;
}

RankDump failed_rank() {
  RankDump rank;
  rank.rank = 2;
  rank.endpoint = "n019:7001@3312";
  rank.host = "n019";
  rank.pid = 3312;
  rank.errors = {{"ptrace.denied", RankError::Level::error,
                  "gdbserver: Operation not permitted; same user, yama ptrace_scope=1",
                  "sysctl -w kernel.yama.ptrace_scope=0"}};
  return rank;
}

} // namespace

Operation pending(std::int64_t peer, std::int64_t tag, std::int64_t length) {
  Operation op;
  op.peer = {false, peer, peer};
  op.tag = {false, tag};
  op.length = {length, LengthUnit::bytes};
  op.buffer = TargetAddress{0x1000};
  op.text = {"Request: 0x5590"};
  op.request = TargetAddress{0x5590};
  op.raw = {.desired_local_rank = peer,
            .desired_global_rank = peer,
            .desired_tag = tag,
            .desired_length = length,
            .buffer = 0x1000};
  return op;
}

Queue available(const std::vector<Operation>& operations) {
  Queue queue;
  queue.state = QueueState::available;
  queue.reason = QueueReason::none;
  queue.total = operations.size();
  queue.operations = {operations.begin(), operations.end()};
  return queue;
}

Queue unavailable(QueueReason reason) {
  Queue queue;
  queue.state = QueueState::unavailable;
  queue.reason = reason;
  return queue;
}

Communicator world(std::int64_t local_rank, std::int64_t size) {
  Communicator all;
  all.id = TargetAddress{0x55905000};
  all.key = "C1";
  all.name = "MPI_COMM_WORLD";
  all.named_by_mpi = true;
  all.kind = CommunicatorKind::intra;
  all.local_rank = local_rank;
  all.size = size;
  for (std::int64_t i = 0; i < size; ++i)
    all.group.grow().push_back(i);
  all.queues = {available({}), available({}), unavailable(QueueReason::not_provided)};
  return all;
}

RankDump complete_rank(int rank) {
  RankDump dump;
  dump.rank = rank;
  dump.endpoint = "n017:7001";
  dump.host = "n017";
  dump.pid = 41822;
  dump.executable = "./solver";
  dump.platform = Platform{.architecture = "x86_64"};
  dump.status = RankStatus::ok;
  dump.dll = DllInfo{"/usr/lib/openmpi/libompi_dbg_msgq.so", "Open MPI 4.1.4", 2, "openmpi"};
  dump.mpi = MpiInfo{"Open MPI",
                     "4.1.4",
                     "3f9c01",
                     "ob1",
                     MpiState::initialized,
                     "pack",
                     TypesMatch::exact,
                     ThreadLevel::unknown,
                     false,
                     7};
  dump.stopped_ms = 22;
  dump.stopped_at = "2026-11-20T10:00:00Z";
  dump.stopped_before_us = true;
  dump.world_rank = rank;
  dump.world_size = 3;
  dump.job_id = "j1";
  Statistics& statistics = dump.statistics;
  statistics.round_trips = 30;
  statistics.requests = 40;
  statistics.bytes_received = 5000;
  statistics.bytes_sent = 600;
  statistics.fetches = 886;
  statistics.fetch_bytes = 5900;
  statistics.elapsed_ms = 25.5;
  statistics.phases = {{PhaseName::connect, 1.5, 2, 100}, {PhaseName::walk, 20, 25, 4800}};
  return dump;
}

Dump sample_dump() {
  Dump dump;
  dump.taken_at = "2026-11-20T10:00:00Z";
  dump.job_size = 3;
  dump.job_source = "targets";
  dump.skew_ms = 40;
  dump.stalled_ms = 53;
  dump.ranks = {first_rank(), second_rank(), failed_rank()};
  for (RankDump& rank : dump.ranks)
    for (Communicator& communicator : rank.communicators)
      for (Queue& queue : communicator.queues)
        for (Operation& op : queue.operations) {
          op.raw.buffer = op.buffer->value;
          op.raw.desired_length = *op.length.value;
        }
  return dump;
}

Dump ring_dump(int count) {
  Dump dump;
  dump.job_size = count;
  dump.job_source = "targets";
  for (int i = 0; i < count; ++i) {
    RankDump rank = complete_rank(i);
    Communicator all = world(i, count);
    all.queue(OpClass::receive) = available({pending((i + count - 1) % count, 17, 8)});
    if (i % 2 == 1)
      all.queue(OpClass::send) = available({pending((i + 1) % count, 17, 8)});
    rank.communicators = {all};
    dump.ranks.push_back(rank);
  }
  return dump;
}

} // namespace mqbridge::test
