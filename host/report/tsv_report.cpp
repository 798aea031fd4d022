#include "host/report/tsv_report.h"

#include "host/document/communicator_members.h"
#include "host/document/stack_members.h"
#include "host/report/tsv_members.h"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {
namespace {

using namespace std::string_view_literals;

constexpr std::array tsv_columns = {
    "kind"sv,         "rank"sv,          "comm_key"sv,   "comm_id"sv,     "comm_name"sv,
    "comm_rank"sv,    "comm_size"sv,     "queue"sv,      "state"sv,       "peer_any"sv,
    "peer_global"sv,  "peer_local"sv,    "tag_any"sv,    "tag"sv,         "length"sv,
    "length_unit"sv,  "buffer"sv,        "request"sv,    "repairs"sv,     "reason"sv,
    "total"sv,        "truncated_by"sv,  "message"sv,    "hint"sv,        "op_kind"sv,
    "delivered"sv,    "pid"sv,           "host"sv,       "held_ms"sv,     "endpoint"sv,
    "source"sv,       "collective"sv,    "protocol"sv,   "waited_mode"sv, "waited_group"sv,
    "waited_count"sv, "waited_unseen"sv, "call"sv,       "function"sv,    "file"sv,
    "line"sv,         "thread"sv,        "system_call"sv};

class OperationTsvLine : public TsvLine<tsv_columns> {
public:
  using TsvLine::set_address;
  using TsvLine::set_number;
  using TsvLine::TsvLine;

  void set_number(Column column, const MaybeInt& number) {
    set_number(column, std::optional<std::int64_t>(number));
  }
  void set_address(Column column, const std::optional<TargetAddress>& address) {
    if (address)
      set_address(column, std::optional(address->value));
  }
  void set_communicator(const Communicator& communicator) {
    set("comm_key", communicator.key);
    set_address("comm_id", communicator.id);
    set("comm_name", communicator.name);
    set_number("comm_rank", communicator.local_rank);
    set_number("comm_size", communicator.size);
  }
};

constexpr TsvRename operation_renames[] = {{"status", "state"},
                                           {"kind", "op_kind"},
                                           {"peer_global_rank", "peer_global"},
                                           {"peer_local_rank", "peer_local"}};
constexpr TsvRename call_renames[] = {{"communicator", "comm_id"}};
constexpr TsvRename queue_renames[] = {{"error", "message"}};

void write_operation(const RankDump& rank, const Communicator& communicator, OpClass op_class,
                     const Operation& operation, const Sink& sink) {
  OperationTsvLine line("operation", rank);
  line.set_communicator(communicator);
  line.set("queue", name_of(op_class));
  TsvMembers(line, operation_renames).set(operation);
  line.write(sink);
}

void write_queue(const RankDump& rank, const Communicator& communicator, OpClass op_class,
                 const Sink& sink) {
  const Queue& queue = communicator.queue(op_class);
  for (const Operation& operation : queue.operations)
    write_operation(rank, communicator, op_class, operation, sink);
  if (queue.state == QueueState::available && queue.truncated_by == TruncatedBy::nothing)
    return;
  OperationTsvLine line("queue", rank);
  line.set_communicator(communicator);
  line.set("queue", name_of(op_class));
  TsvMembers(line, queue_renames).set(queue);
  line.write(sink);
}

void write_rank_and_queues(const RankDump& rank, const Sink& sink) {
  OperationTsvLine line("rank", rank);
  line.set("state", name_of(rank.status));
  line.set_number("held_ms", rank.stopped_ms);
  line.write(sink);
  for (const RankError& error : rank.errors)
    OperationTsvLine(name_of(error.level), rank).write_error(error, sink);
  if (rank.blocked_in)
    for (const BlockedCall& call : *rank.blocked_in) {
      OperationTsvLine in_call("call", rank);
      TsvMembers(in_call, call_renames).set(call);
      in_call.write(sink);
    }
  for (const Communicator& communicator : rank.communicators)
    for (const OpClass op_class : op_classes)
      write_queue(rank, communicator, op_class, sink);
}

void write_analysis(const Analysis& analysis, const Sink& sink) {
  OperationTsvLine verdict("verdict");
  verdict.set("state", name_of(analysis.verdict));
  if (analysis.confidence)
    verdict.set("reason", name_of(*analysis.confidence));
  verdict.write(sink);
  for (const Finding& finding : analysis.findings) {
    OperationTsvLine line("finding");
    line.set("reason", name_of(finding.kind));
    line.set("message", finding.message);
    line.write(sink);
  }
}

} // namespace

void write_tsv(const Dump& dump, const Sink& sink) {
  write_titles(tsv_columns, sink);
  for (const RankDump& rank : dump.ranks)
    write_rank_and_queues(rank, sink);
  for (const RankError& error : dump.errors)
    OperationTsvLine(name_of(error.level)).write_error(error, sink);
  if (dump.analysis)
    write_analysis(*dump.analysis, sink);
}

} // namespace mqbridge
