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

enum class Field : std::size_t {
  kind,
  rank,
  pid,
  host,
  endpoint,
  handle,
  fortran,
  what,
  state,
  name,
  predefined,
  freed,
  persistent,
  comm,
  peer,
  tag,
  count,
  datatype,
  bytes,
  buffer,
  actual_source,
  actual_tag,
  actual_bytes,
  error,
  cancelled,
  comm_rank,
  comm_size,
  remote_size,
  topology,
  errhandler,
  attributes,
  callback,
  call,
  function,
  file,
  line,
  reason,
  message,
  hint,
};

constexpr std::array<std::string_view, 39> titles = {
    "kind",       "rank",      "pid",           "host",        "endpoint",     "handle",
    "fortran",    "what",      "state",         "name",        "predefined",   "freed",
    "persistent", "comm",      "peer",          "tag",         "count",        "datatype",
    "bytes",      "buffer",    "actual_source", "actual_tag",  "actual_bytes", "error",
    "cancelled",  "comm_rank", "comm_size",     "remote_size", "topology",     "errhandler",
    "attributes", "callback",  "call",          "function",    "file",         "line",
    "reason",     "message",   "hint"};

using Line = TsvLine<Field, titles.size()>;

std::string attributes_of(const CommunicatorHandle& handle) {
  std::vector<std::string> pairs;
  for (const HandleAttribute& attribute : *handle.attributes)
    pairs.push_back(fmt::format(
        "{}={}", attribute.name.empty() ? fmt::to_string(attribute.keyval) : attribute.name,
        attribute.value));
  return fmt::format("{}", fmt::join(pairs, ","));
}

void write(const RankDump& rank, const CommunicatorHandle& handle, const Sink& sink) {
  Line line("communicator", rank);
  line.set_address(Field::handle, handle.handle);
  line.set_number(Field::fortran, handle.fortran);
  line.set(Field::what, handle.null                ? "null"
                        : handle.intercommunicator ? "intercommunicator"
                                                   : "intracommunicator");
  line.set(Field::name, handle.name);
  line.set_flag(Field::predefined, handle.predefined);
  line.set_flag(Field::freed, handle.freed);
  line.set_number(Field::comm_rank, handle.rank);
  line.set_number(Field::comm_size, handle.size);
  line.set_number(Field::remote_size, handle.remote_size);
  if (handle.topology)
    line.set(Field::topology, HandleWords::topology_of(handle));
  line.set_address(Field::errhandler, handle.errhandler);
  if (handle.attributes)
    line.set(Field::attributes, attributes_of(handle));
  line.write(sink);
}

void write(const RankDump& rank, const RequestHandle& handle, const Sink& sink) {
  Line line("request", rank);
  line.set_address(Field::handle, handle.handle);
  line.set_number(Field::fortran, handle.fortran);
  line.set(Field::what, name_of(handle.kind));
  line.set(Field::state, name_of(handle.state));
  line.set_flag(Field::predefined, handle.predefined);
  line.set_flag(Field::persistent, handle.persistent);
  line.set_address(Field::comm, handle.comm);
  line.set_number(Field::peer, handle.peer);
  line.set_number(Field::tag, handle.tag);
  line.set_number(Field::count, handle.count);
  line.set(Field::datatype, handle.datatype);
  line.set_number(Field::bytes, handle.bytes);
  line.set_address(Field::buffer, handle.buffer);
  line.set_number(Field::actual_source, handle.actual_source);
  line.set_number(Field::actual_tag, handle.actual_tag);
  line.set_number(Field::actual_bytes, handle.actual_bytes);
  line.set_number(Field::error, handle.error);
  line.set_flag(Field::cancelled, handle.cancelled);
  line.set(Field::call, handle.call);
  if (handle.site) {
    line.set(Field::function, handle.site->function.value_or(""));
    line.set(Field::file, handle.site->file.value_or(""));
    line.set_number(Field::line, handle.site->line);
  }
  line.write(sink);
}

void write(const RankDump& rank, const ErrhandlerHandle& handle, const Sink& sink) {
  Line line("errhandler", rank);
  line.set_address(Field::handle, handle.handle);
  line.set_number(Field::fortran, handle.fortran);
  line.set(Field::name, handle.name);
  line.set_flag(Field::predefined, handle.predefined);
  line.set_flag(Field::freed, handle.freed);
  line.set_address(Field::callback, handle.callback);
  line.write(sink);
}

void write(const RankDump& rank, const StatusHandle& status, const Sink& sink) {
  Line line("status", rank);
  line.set_address(Field::handle, status.address);
  if (status.ignore)
    line.set(Field::what, "ignore");
  line.set_number(Field::actual_source, status.source);
  line.set_number(Field::actual_tag, status.tag);
  line.set_number(Field::actual_bytes, status.bytes);
  line.set_number(Field::error, status.error);
  line.set_flag(Field::cancelled, status.cancelled);
  line.write(sink);
}

void write(const RankDump& rank, const HandleRefusal& refused, const Sink& sink) {
  Line line("refused", rank);
  if (refused.handle.fortran)
    line.set(Field::fortran, fmt::to_string(static_cast<std::int32_t>(refused.handle.value)));
  else
    line.set_address(Field::handle, refused.handle.value);
  line.set(Field::what, name_of(refused.handle.kind));
  line.set(Field::reason, refused.reason);
  line.write(sink);
}

void write_list_state(const RankDump& rank, const std::vector<HandleKind>& kinds,
                      std::string_view state, const Sink& sink) {
  for (const HandleKind kind : kinds) {
    Line line("list", rank);
    line.set(Field::what, name_of(kind));
    line.set(Field::state, state);
    line.write(sink);
  }
}

void write_rank(const RankDump& rank, const Sink& sink) {
  Line line("rank", rank);
  line.set(Field::state, name_of(rank.status));
  line.write(sink);
  for (const RankError& error : rank.errors)
    Line(name_of(error.level), rank).write_error(error, sink);
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
  write_titles(titles, sink);
  for (const RankDump& rank : dump.ranks)
    write_rank(rank, sink);
  for (const RankError& error : dump.errors)
    Line(name_of(error.level)).write_error(error, sink);
}

} // namespace mqbridge
