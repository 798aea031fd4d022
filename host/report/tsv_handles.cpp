#include "host/document/names.h"
#include "host/report/handle_words.h"
#include "host/report/tsv_line.h"
#include "host/report/tsv_report.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace mqbridge {
namespace {

using namespace std::string_view_literals;

constexpr std::array handle_columns = {
    "kind"sv,          "rank"sv,       "pid"sv,          "host"sv,     "endpoint"sv,
    "handle"sv,        "fortran"sv,    "what"sv,         "state"sv,    "name"sv,
    "predefined"sv,    "freed"sv,      "persistent"sv,   "comm"sv,     "peer"sv,
    "tag"sv,           "count"sv,      "datatype"sv,     "bytes"sv,    "buffer"sv,
    "actual_source"sv, "actual_tag"sv, "actual_bytes"sv, "error"sv,    "cancelled"sv,
    "comm_rank"sv,     "comm_size"sv,  "remote_size"sv,  "topology"sv, "errhandler"sv,
    "attributes"sv,    "callback"sv,   "call"sv,         "function"sv, "file"sv,
    "line"sv,          "reason"sv,     "message"sv,      "hint"sv};

using HandleTsvLine = TsvLine<handle_columns>;

std::string attributes_of(const CommunicatorHandle& handle) {
  std::vector<std::string> pairs;
  for (const HandleAttribute& attribute : *handle.attributes)
    pairs.push_back(fmt::format(
        "{}={}", attribute.name.empty() ? fmt::to_string(attribute.keyval) : attribute.name,
        attribute.value));
  return fmt::format("{}", fmt::join(pairs, ","));
}

void write(const RankDump& rank, const CommunicatorHandle& handle, const Sink& sink) {
  HandleTsvLine line("communicator", rank);
  line.set_address("handle", handle.handle);
  line.set_number("fortran", handle.fortran);
  line.set("what", handle.null                ? "null"
                   : handle.intercommunicator ? "intercommunicator"
                                              : "intracommunicator");
  line.set("name", handle.name);
  line.set_flag("predefined", handle.predefined);
  line.set_flag("freed", handle.freed);
  line.set_number("comm_rank", handle.rank);
  line.set_number("comm_size", handle.size);
  line.set_number("remote_size", handle.remote_size);
  if (handle.topology)
    line.set("topology", HandleWords::topology_of(handle));
  line.set_address("errhandler", handle.errhandler);
  if (handle.attributes)
    line.set("attributes", attributes_of(handle));
  line.write(sink);
}

void write(const RankDump& rank, const RequestHandle& handle, const Sink& sink) {
  HandleTsvLine line("request", rank);
  line.set_address("handle", handle.handle);
  line.set_number("fortran", handle.fortran);
  line.set("what", name_of(handle.kind));
  line.set("state", name_of(handle.state));
  line.set_flag("predefined", handle.predefined);
  line.set_flag("persistent", handle.persistent);
  line.set_address("comm", handle.comm);
  line.set_number("peer", handle.peer);
  line.set_number("tag", handle.tag);
  line.set_number("count", handle.count);
  line.set("datatype", handle.datatype);
  line.set_number("bytes", handle.bytes);
  line.set_address("buffer", handle.buffer);
  line.set_number("actual_source", handle.actual_source);
  line.set_number("actual_tag", handle.actual_tag);
  line.set_number("actual_bytes", handle.actual_bytes);
  line.set_number("error", handle.error);
  line.set_flag("cancelled", handle.cancelled);
  line.set("call", handle.call);
  if (handle.site) {
    line.set("function", handle.site->function.value_or(""));
    line.set("file", handle.site->file.value_or(""));
    line.set_number("line", handle.site->line);
  }
  line.write(sink);
}

void write(const RankDump& rank, const ErrhandlerHandle& handle, const Sink& sink) {
  HandleTsvLine line("errhandler", rank);
  line.set_address("handle", handle.handle);
  line.set_number("fortran", handle.fortran);
  line.set("name", handle.name);
  line.set_flag("predefined", handle.predefined);
  line.set_flag("freed", handle.freed);
  line.set_address("callback", handle.callback);
  line.write(sink);
}

void write(const RankDump& rank, const StatusHandle& status, const Sink& sink) {
  HandleTsvLine line("status", rank);
  line.set_address("handle", status.address);
  if (status.ignore)
    line.set("what", "ignore");
  line.set_number("actual_source", status.source);
  line.set_number("actual_tag", status.tag);
  line.set_number("actual_bytes", status.bytes);
  line.set_number("error", status.error);
  line.set_flag("cancelled", status.cancelled);
  line.write(sink);
}

void write(const RankDump& rank, const HandleRefusal& refused, const Sink& sink) {
  HandleTsvLine line("refused", rank);
  if (refused.handle.fortran)
    line.set("fortran", fmt::to_string(static_cast<std::int32_t>(refused.handle.value)));
  else
    line.set_address("handle", refused.handle.value);
  line.set("what", name_of(refused.handle.kind));
  line.set("reason", refused.reason);
  line.write(sink);
}

void write_list_state(const RankDump& rank, const std::vector<HandleKind>& kinds,
                      std::string_view state, const Sink& sink) {
  for (const HandleKind kind : kinds) {
    HandleTsvLine line("list", rank);
    line.set("what", name_of(kind));
    line.set("state", state);
    line.write(sink);
  }
}

void write_rank_and_handles(const RankDump& rank, const Sink& sink) {
  HandleTsvLine line("rank", rank);
  line.set("state", name_of(rank.status));
  line.write(sink);
  for (const RankError& error : rank.errors)
    HandleTsvLine(name_of(error.level), rank).write_error(error, sink);
  if (!rank.handles)
    return;
  const ProcessHandles& handles = *rank.handles;
  for (const auto& each : handles.communicators)
    write(rank, each, sink);
  for (const auto& each : handles.requests)
    write(rank, each, sink);
  for (const auto& each : handles.errhandlers)
    write(rank, each, sink);
  for (const auto& each : handles.statuses)
    write(rank, each, sink);
  for (const auto& each : handles.refused)
    write(rank, each, sink);
  write_list_state(rank, handles.incomplete, "incomplete", sink);
  write_list_state(rank, handles.unlisted, "unlisted", sink);
}

} // namespace

void write_handles_tsv(const Dump& dump, const Sink& sink) {
  write_titles(handle_columns, sink);
  for (const RankDump& rank : dump.ranks)
    write_rank_and_handles(rank, sink);
  for (const RankError& error : dump.errors)
    HandleTsvLine(name_of(error.level)).write_error(error, sink);
}

} // namespace mqbridge
