#include "tests/document/rich_dump.h"

#include "tests/document/sample_dump.h"
#include "tests/document/sample_handles.h"
#include "tests/document/sample_variables.h"

#include <limits>

namespace mqbridge::test {
namespace {

Operation rich_operation() {
  Operation op;
  op.status = OpStatus::matched;
  op.peer = {false, 3, 103};
  op.tag = {false, 77};
  op.length = {4096, LengthUnit::elements};
  op.buffer = TargetAddress{0x7f1c4b001010};
  op.request = TargetAddress{0x5590a1c0};
  op.system_buffer = true;
  op.actual = ActualMessage{4, 104, 78, 2048};
  op.text = {"Receive: 0x5590a1c0", "Data: 16 * MPI_BYTE", "hidden"};
  op.text.show_only(2);
  op.repairs = {Repair::text, Repair::sign_extension};
  op.call = std::make_shared<const std::string>("MPI_Irecv");
  op.datatype = std::make_shared<const std::string>("MPI_BYTE");
  op.count = 16;
  op.kind = OpKind::receive;
  op.delivery = Delivery::undelivered;
  op.sequence = 4'294'967'294;
  op.protocol = Protocol::rendezvous;
  op.collective = Collective::reduce_scatter_block;
  op.waited =
      Waited{.group = 4'294'967'295, .count = 536'870'910, .mode = WaitMode::any, .unseen = true};
  op.site = std::make_shared<CallSite>(
      CallSite{TargetAddress{0xffffffff80401234}, "exchange<\"a\">", "halo.c", 212});
  op.raw = {.desired_local_rank = -5,
            .desired_global_rank = -6,
            .desired_tag = std::int64_t{1} << 62,
            .desired_length = -7,
            .buffer = 0xffffffff80001000,
            .actual_local_rank = -8,
            .actual_global_rank = -9,
            .actual_tag = -10,
            .actual_length = -11,
            .status = -12,
            .tag_wild = -13,
            .system_buffer = 0};
  return op;
}

/// What no debug DLL says: it has no raw values.
Operation read_by_mqbridge() {
  Operation op;
  op.source = OpSource::mqbridge;
  op.kind = OpKind::message;
  op.peer = {false, 2, 102};
  op.tag = {false, -1'073'741'824};
  op.length = {64, LengthUnit::bytes};
  op.request = TargetAddress{0x5590b000};
  op.protocol = Protocol::eager;
  op.collective = Collective::barrier;
  op.waited = Waited{.group = 1};
  return op;
}

/// What the recorders of its sender and its receiver say together: it has no raw values either.
Operation told_by_recorders() {
  Operation op = read_by_mqbridge();
  op.source = OpSource::recorder;
  op.site = std::make_shared<CallSite>(CallSite{TargetAddress{0x401234}});
  return op;
}

RecordedCommunicator rich_record() {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  RecordedCollective collective{"MPI_Ibcast", most, 3, TargetAddress{0x5590a1c8}, {}, {}};
  collective.waited = Waited{.group = 9, .count = 2, .mode = WaitMode::all, .unseen = true};
  collective.site =
      std::make_shared<CallSite>(CallSite{TargetAddress{0x401300}, "solve", "solve.c", 12});
  RecordedCommunicator recorded;
  recorded.whole = false;
  recorded.collectives = most;
  recorded.channels = {{3, -2'147'483'648, 1, 4'294'967'295}, {-7, std::nullopt, 65'536, 0}};
  recorded.under_way.push_back(collective);
  recorded.under_way.emplace_back().call = "MPI_Ibarrier";
  return recorded;
}

Communicator rich_communicator() {
  Communicator communicator;
  communicator.id = TargetAddress{0xffffffffffffffff};
  communicator.name = "bridge \xc3\xbc \x1b \"quoted\"";
  communicator.local_rank = 1;
  communicator.size = 2;
  communicator.group = {9, 7, 5, 5, -1};
  communicator.members = {{"1:a", 0}, {"2:b", 1}};
  communicator.kind = CommunicatorKind::inter;
  communicator.remote = {std::vector<std::int64_t>{1'000'000'000'000, -3}, {{"3:c", 2}}};
  communicator.context = 0x8000000000000001;
  communicator.named_by_mpi = true;
  communicator.internal = true;
  communicator.counters = MessageCounters{65536, 70'000, {{0, 65'535, 3}, {-7, 1, 65'534}}};
  communicator.recorded = rich_record();
  communicator.joined = Joined{18'446'744'073'709'551'615U, 7, {0, -1, 3}, {-1}};
  communicator.key = "C7";
  for (const OpClass op_class : op_classes) {
    Queue& queue = communicator.queue(op_class);
    queue =
        available({rich_operation(), rich_operation(), read_by_mqbridge(), told_by_recorders()});
    queue.operations[0].peer.any = queue.operations[0].tag.any = true;
    queue.reason = QueueReason::transport_bypasses;
    queue.error = "the DLL stopped at item 3";
    queue.total = 18'000'000'000'000'000'000U;
    queue.truncated_by = TruncatedBy::max_stop;
  }
  return communicator;
}

std::vector<ThreadStack> rich_stacks() {
  const StackFrame inner{TargetAddress{0x7f1c4b112233},
                         "ompi_request_wait",
                         0x45,
                         "request.h",
                         427,
                         "/lib/libmpi.so.40",
                         true};
  const StackFrame outer{TargetAddress{0x401234}, "solve<\"a\">", -1, "solve.c", 12,
                         "/home/anna/solver",     false};
  return {{41822, "solver", true, StackEnd::no_cfi, {inner, outer}},
          {41823, "worker \x1b", false, StackEnd::repeats, {}}};
}

std::vector<BlockedCall> rich_calls() {
  return {{41822, "MPI_Recv", TargetAddress{0x55905000}, "solve.c", 12, TargetAddress{0x5590a1c0},
           false, "solve", "futex", 3, 7, 4'294'967'295}};
}

} // namespace

Dump rich_dump() {
  RankDump rank = complete_rank(5);
  rank.status = RankStatus::partial;
  rank.rank_source = RankSource::comm_world;
  rank.platform = Platform{.architecture = "ppc", .byte_order = ByteOrder::big};
  rank.platform->set_data_model(DataModel::ilp32);
  rank.errors = {{"walk.cut", RankError::Level::error, "cut\nhere", "--max-stop 3"},
                 {"types.guessed", RankError::Level::warning, "guessed", "--types FILE"}};
  rank.mpi->thread_level = ThreadLevel::serialized;
  rank.world_rank = -2;
  rank.process_state = "S";
  rank.stopped_ms = 0.1;
  rank.statistics.pages_touched = 200;
  rank.statistics.pages_read = 250;
  rank.statistics.rtt_us = 1e-7;
  rank.statistics.bandwidth_bps = 1.5e300;
  rank.communicators = {rich_communicator(), world(5, 6)};
  rank.joints = {{18'446'744'073'709'551'615U, 3, 1, 1'795'434'971'083'263, 1'795'434'971'490'765,
                  4'294'967'295, "MPI_Comm_accept", 2, 3, "port \"7\""},
                 {}};
  rank.blocked_in = rich_calls();
  rank.stacks = rich_stacks();
  rank.handles = rich_handles();
  rank.variables = rich_variables();
  Dump dump = sample_dump();
  dump.skew_ms = 1.0 / 3;
  dump.ranks = {rank, complete_rank(6)};
  dump.filters = {
      {OpClass::send, OpClass::unexpected}, false, {"row", "\x01"}, {0, 1, 2, 9}, {5, -1}, {7}};
  dump.filters.variables = {
      Verbosity::tuner_all, {"btl"}, {"a*", "?"}, {"file"}, VariableKind::control};
  dump.errors = {{"ssh.failed", RankError::Level::error, "n020: no route", "ssh n020 true"}};
  RankDump before = rank;
  before.rank = 4;
  before.statistics = {};
  dump.earlier = {{"2026-11-05T07:59:58Z", {before, complete_rank(6)}},
                  {"2026-11-05T07:59:59Z", {}}};
  dump.earlier[0].ranks[1].statistics = {};
  return dump;
}

Analysis rich_analysis() {
  Analysis analysis;
  analysis.verdict = Verdict::deadlock;
  analysis.confidence = Confidence::likely;
  analysis.core = {{0, 6, 2}, {9, 9, 1}};
  analysis.blocked = {{10, 511, 1}};
  analysis.waits = {{.rank = 6,
                     .mode = WaitsFor::any,
                     .ranks = {{0, 4, 2}, {-1, -1, 1}},
                     .because = "MPI_Recv from \"any\" tag 17 on C1",
                     .place = "halo.c:212",
                     .thread = "41822",
                     .job_id = "1:a",
                     .elsewhere = {{"2:b", {{1, 3, 1}}}},
                     .unseen = true}};
  analysis.findings = {{FindingKind::knot, {{0, 6, 2}}, "0 -> 2 -> 0", "1:a"}};
  analysis.not_visible = {"eager sends"};
  analysis.look_at = {"rank 6: halo.c:212"};
  analysis.looks = 3;
  analysis.unchanged_ms = 5000.5;
  RankChanges moved;
  moved.rank = 6;
  moved.job_id = "1:a";
  moved.change = RankChange::moved;
  moved.calls_before = rich_calls();
  moved.calls_after = std::vector<BlockedCall>();
  moved.calls_moved = true;
  moved.channels = {{{"C1", 3, 5, std::nullopt}}};
  OperationKind kind;
  kind.communicator = "C7";
  kind.peer = 3;
  kind.any_tag = true;
  kind.length = 64;
  kind.collective = Collective::barrier;
  moved.gone = {{kind, 2}};
  moved.appeared = {{OperationKind{}, 1}};
  moved.stayed = 9;
  moved.unsure = {OpClass::unexpected};
  analysis.changes = Changes{"2026-11-05T07:59:58Z", "2026-11-05T08:00:00Z", {moved}};
  analysis.by_job = {{"1:a", {{{0, 6, 2}}, {}}}, {"2:b", {{}, {{1, 1, 1}}}}};
  return analysis;
}

} // namespace mqbridge::test
