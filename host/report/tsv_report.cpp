#include "host/report/tsv_report.h"

#include "host/document/names.h"
#include "host/report/tsv_line.h"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {
namespace {

enum class Field : std::size_t {
  kind,
  rank,
  comm_key,
  comm_id,
  comm_name,
  comm_rank,
  comm_size,
  queue,
  state,
  peer_any,
  peer_global,
  peer_local,
  tag_any,
  tag,
  length,
  length_unit,
  buffer,
  request,
  repairs,
  reason,
  total,
  truncated_by,
  message,
  hint,
  op_kind,
  delivered,
  pid,
  host,
  held_ms,
  endpoint,
  source,
  collective,
  protocol,
  waited_mode,
  waited_group,
  waited_count,
  waited_unseen,
  call,
  function,
  file,
  line,
};

constexpr std::array<std::string_view, 41> titles = {
    "kind",          "rank",       "comm_key", "comm_id",      "comm_name",    "comm_rank",
    "comm_size",     "queue",      "state",    "peer_any",     "peer_global",  "peer_local",
    "tag_any",       "tag",        "length",   "length_unit",  "buffer",       "request",
    "repairs",       "reason",     "total",    "truncated_by", "message",      "hint",
    "op_kind",       "delivered",  "pid",      "host",         "held_ms",      "endpoint",
    "source",        "collective", "protocol", "waited_mode",  "waited_group", "waited_count",
    "waited_unseen", "call",       "function", "file",         "line"};

class Line : public TsvLine<Field, titles.size()> {
public:
  using TsvLine::set_address;
  using TsvLine::set_number;
  using TsvLine::TsvLine;

  void set_number(Field field, const MaybeInt& number) {
    set_number(field, std::optional<std::int64_t>(number));
  }
  void set_address(Field field, const std::optional<TargetAddress>& address) {
    if (address)
      set_address(field, std::optional(address->value));
  }
  void set_communicator(const Communicator& communicator) {
    set(Field::comm_key, communicator.key);
    set_address(Field::comm_id, communicator.id);
    set(Field::comm_name, communicator.name);
    set_number(Field::comm_rank, communicator.local_rank);
    set_number(Field::comm_size, communicator.size);
  }
};

void set_waited(Line& line, const Waited& waited) {
  if (!waited)
    return;
  line.set(Field::waited_mode, name_of(waited.mode));
  line.set_number(Field::waited_group, std::uint32_t{waited.group});
  if (waited.count != Waited::unknown_count)
    line.set_number(Field::waited_count, std::uint32_t{waited.count});
  if (waited.unseen)
    line.set(Field::waited_unseen, "true");
}

/// What posted it, where a recorder knows that.
void set_call(Line& line, const Operation& operation) {
  if (operation.call)
    line.set(Field::call, *operation.call);
  if (!operation.site)
    return;
  line.set(Field::function, operation.site->function.value_or(""));
  line.set(Field::file, operation.site->file.value_or(""));
  line.set_number(Field::line, operation.site->line);
}

void write_operation(const RankDump& rank, const Communicator& communicator, OpClass op_class,
                     const Operation& operation, const Sink& sink) {
  Line line("operation", rank);
  line.set_communicator(communicator);
  line.set(Field::queue, name_of(op_class));
  line.set(Field::state, name_of(operation.status));
  line.set(Field::peer_any, operation.peer.any ? "true" : "false");
  line.set_number(Field::peer_global, operation.peer.global_rank);
  line.set_number(Field::peer_local, operation.peer.local_rank);
  line.set(Field::tag_any, operation.tag.any ? "true" : "false");
  line.set_number(Field::tag, operation.tag.value);
  line.set_number(Field::length, operation.length.value);
  line.set(Field::length_unit, name_of(operation.length.unit));
  line.set_address(Field::buffer, operation.buffer);
  line.set_address(Field::request, operation.request);
  std::string repairs;
  for (const Repair repair : operation.repairs)
    (repairs += repairs.empty() ? "" : ",") += name_of(repair);
  line.set(Field::repairs, repairs);
  line.set(Field::op_kind, name_of(operation.kind));
  if (operation.delivery != Delivery::not_known)
    line.set(Field::delivered, operation.delivery == Delivery::delivered ? "true" : "false");
  line.set(Field::source, name_of(operation.source));
  line.set(Field::collective, name_of(operation.collective));
  line.set(Field::protocol, name_of(operation.protocol));
  set_waited(line, operation.waited);
  set_call(line, operation);
  line.write(sink);
}

void write_queue(const RankDump& rank, const Communicator& communicator, OpClass op_class,
                 const Sink& sink) {
  const Queue& queue = communicator.queue(op_class);
  for (const Operation& operation : queue.operations)
    write_operation(rank, communicator, op_class, operation, sink);
  if (queue.state == QueueState::available && queue.truncated_by == TruncatedBy::nothing)
    return;
  Line line("queue", rank);
  line.set_communicator(communicator);
  line.set(Field::queue, name_of(op_class));
  line.set(Field::state, name_of(queue.state));
  line.set(Field::reason, name_of(queue.reason));
  line.set_number(Field::total, queue.total);
  line.set(Field::truncated_by, name_of(queue.truncated_by));
  line.set(Field::message, queue.error.value_or(""));
  line.write(sink);
}

void write_rank(const RankDump& rank, const Sink& sink) {
  Line line("rank", rank);
  line.set(Field::state, name_of(rank.status));
  line.set_number(Field::held_ms, rank.stopped_ms);
  line.write(sink);
  for (const RankError& error : rank.errors)
    Line(name_of(error.level), rank).write_error(error, sink);
  for (const Communicator& communicator : rank.communicators)
    for (const OpClass op_class : op_classes)
      write_queue(rank, communicator, op_class, sink);
}

void write_analysis(const Analysis& analysis, const Sink& sink) {
  Line verdict("verdict");
  verdict.set(Field::state, name_of(analysis.verdict));
  if (analysis.confidence)
    verdict.set(Field::reason, name_of(*analysis.confidence));
  verdict.write(sink);
  for (const Finding& finding : analysis.findings) {
    Line line("finding");
    line.set(Field::reason, name_of(finding.kind));
    line.set(Field::message, finding.message);
    line.write(sink);
  }
}

} // namespace

void write_tsv(const Dump& dump, const Sink& sink) {
  write_titles(titles, sink);
  for (const RankDump& rank : dump.ranks)
    write_rank(rank, sink);
  for (const RankError& error : dump.errors)
    Line(name_of(error.level)).write_error(error, sink);
  if (dump.analysis)
    write_analysis(*dump.analysis, sink);
}

} // namespace mqbridge
