#include "host/document/handle_members.h"
#include "host/report/handle_words.h"
#include "host/report/tsv_members.h"
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

constexpr TsvRename communicator_renames[] = {{"rank", "comm_rank"}, {"size", "comm_size"}};
constexpr TsvRename request_renames[] = {{"kind", "what"}, {"communicator", "comm"}};
constexpr TsvRename status_renames[] = {{"address", "handle"},
                                        {"source", "actual_source"},
                                        {"tag", "actual_tag"},
                                        {"bytes", "actual_bytes"}};

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
  TsvMembers(line, communicator_renames).set(handle);
  line.set("what", handle.null                ? "null"
                   : handle.intercommunicator ? "intercommunicator"
                                              : "intracommunicator");
  if (handle.topology)
    line.set("topology", HandleWords::topology_of(handle));
  if (handle.attributes)
    line.set("attributes", attributes_of(handle));
  line.write(sink);
}

void write(const RankDump& rank, const RequestHandle& handle, const Sink& sink) {
  HandleTsvLine line("request", rank);
  TsvMembers(line, request_renames).set(handle);
  line.write(sink);
}

void write(const RankDump& rank, const ErrhandlerHandle& handle, const Sink& sink) {
  HandleTsvLine line("errhandler", rank);
  TsvMembers(line, {}).set(handle);
  line.write(sink);
}

void write(const RankDump& rank, const StatusHandle& status, const Sink& sink) {
  HandleTsvLine line("status", rank);
  TsvMembers(line, status_renames).set(status);
  if (status.ignore)
    line.set("what", "ignore");
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
