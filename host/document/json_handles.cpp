#include "host/document/json_rank.h"
#include "host/document/names.h"

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;
using MaybeHandle = std::optional<std::uint64_t>;

void write_handle(JsonWriter& json, std::string_view key, const MaybeHandle& handle) {
  if (handle)
    json.member(key, address_text(*handle));
  else
    json.member(key, nullptr);
}

void write_handles(JsonWriter& json, std::string_view key,
                   const std::optional<std::vector<std::uint64_t>>& handles) {
  if (!handles) {
    json.member(key, nullptr);
    return;
  }
  json.key(key).begin_array(Layout::one_line);
  for (const std::uint64_t handle : *handles)
    json.value(address_text(handle));
  json.end();
}

/// Of a process whose rank is not known -1; empty: not known.
void write_group(JsonWriter& json, std::string_view key,
                 const std::vector<std::optional<int>>& group) {
  if (group.empty()) {
    json.member(key, nullptr);
    return;
  }
  std::vector<std::int64_t> ranks;
  for (const auto& rank : group)
    ranks.push_back(rank.value_or(-1));
  write_runs(json.key(key), ranks);
}

template <class T>
void write_numbers(JsonWriter& json, std::string_view key, const std::vector<T>& numbers) {
  json.key(key).begin_array(Layout::one_line);
  for (const T number : numbers)
    json.value(number);
  json.end();
}

void write_topology(JsonWriter& json, const std::optional<Topology>& topology) {
  json.key("topology");
  if (!topology) {
    json.value(nullptr);
    return;
  }
  json.begin_object(Layout::one_line);
  json.member("kind", name_of(topology->kind));
  json.member("reordered", topology->reordered);
  switch (topology->kind) {
  case TopologyKind::none:
    break;
  case TopologyKind::cartesian:
    write_numbers(json, "dims", topology->dims);
    write_numbers(json, "periods", topology->periods);
    break;
  case TopologyKind::graph:
    write_numbers(json, "index", topology->index);
    write_numbers(json, "edges", topology->edges);
    break;
  case TopologyKind::dist_graph:
    json.member("neighbors_known", topology->neighbors_known);
    write_numbers(json, "sources", topology->sources);
    write_numbers(json, "source_weights", topology->source_weights);
    write_numbers(json, "destinations", topology->destinations);
    write_numbers(json, "destination_weights", topology->destination_weights);
    break;
  }
  json.end();
}

void write_attributes(JsonWriter& json,
                      const std::optional<std::vector<HandleAttribute>>& attributes) {
  json.key("attributes");
  if (!attributes) {
    json.value(nullptr);
    return;
  }
  json.begin_array();
  for (const HandleAttribute& attribute : *attributes) {
    json.begin_object(Layout::one_line);
    json.member("keyval", attribute.keyval);
    write_or_null(json, "name", attribute.name);
    write_or_null(json, "value", attribute.value);
    json.end();
  }
  json.end();
}

void write_communicator(JsonWriter& json, const CommunicatorHandle& handle) {
  json.begin_object();
  json.member("handle", address_text(handle.handle));
  json.member("fortran", handle.fortran);
  json.member("null", handle.null);
  json.member("predefined", handle.predefined);
  json.member("intercommunicator", handle.intercommunicator);
  json.member("freed", handle.freed);
  write_or_null(json, "name", handle.name);
  json.member("rank", handle.rank);
  json.member("size", handle.size);
  json.member("remote_size", handle.remote_size);
  write_group(json, "group", handle.group);
  write_group(json, "remote_group", handle.remote_group);
  write_handle(json, "context", handle.context);
  write_topology(json, handle.topology);
  write_attributes(json, handle.attributes);
  write_handle(json, "errhandler", handle.errhandler);
  write_handles(json, "requests", handle.requests);
  write_handles(json, "windows", handle.windows);
  write_handles(json, "files", handle.files);
  json.end();
}

void write_request(JsonWriter& json, const RequestHandle& handle) {
  json.begin_object();
  json.member("handle", address_text(handle.handle));
  json.member("fortran", handle.fortran);
  json.member("predefined", handle.predefined);
  json.member("kind", name_of(handle.kind));
  json.member("state", name_of(handle.state));
  json.member("persistent", handle.persistent);
  write_handle(json, "communicator", handle.comm);
  json.member("peer", handle.peer);
  json.member("tag", handle.tag);
  json.member("count", handle.count);
  json.member("bytes", handle.bytes);
  write_handle(json, "buffer", handle.buffer);
  write_or_null(json, "datatype", handle.datatype);
  json.member("actual_source", handle.actual_source);
  json.member("actual_tag", handle.actual_tag);
  json.member("actual_bytes", handle.actual_bytes);
  json.member("error", handle.error);
  json.member("cancelled", handle.cancelled);
  write_or_null(json, "call", handle.call);
  write_site(json, handle.site);
  json.end();
}

void write_errhandler(JsonWriter& json, const ErrhandlerHandle& handle) {
  json.begin_object();
  json.member("handle", address_text(handle.handle));
  json.member("fortran", handle.fortran);
  json.member("predefined", handle.predefined);
  write_or_null(json, "name", handle.name);
  json.member("for_communicators", handle.for_communicators);
  json.member("for_files", handle.for_files);
  json.member("for_windows", handle.for_windows);
  json.member("c_callback", handle.c_callback);
  json.member("freed", handle.freed);
  write_handle(json, "callback", handle.callback);
  write_handles(json, "attached_to", handle.attached_to);
  json.end();
}

void write_status(JsonWriter& json, const StatusHandle& handle) {
  json.begin_object(Layout::one_line);
  json.member("address", address_text(handle.address));
  json.member("ignore", handle.ignore);
  json.member("source", handle.source);
  json.member("tag", handle.tag);
  json.member("error", handle.error);
  json.member("cancelled", handle.cancelled);
  json.member("bytes", handle.bytes);
  json.end();
}

void write_refusal(JsonWriter& json, const HandleRefusal& refusal) {
  json.begin_object(Layout::one_line);
  json.member("kind", name_of(refusal.handle.kind));
  json.member("value", address_text(refusal.handle.value));
  json.member("fortran", refusal.handle.fortran);
  json.member("reason", refusal.reason);
  json.end();
}

void write_kinds(JsonWriter& json, std::string_view key, const std::vector<HandleKind>& kinds) {
  json.key(key).begin_array(Layout::one_line);
  for (const HandleKind kind : kinds)
    json.value(name_of(kind));
  json.end();
}

template <class Handle>
void write_each(JsonWriter& json, std::string_view key, const std::vector<Handle>& handles,
                void (*write)(JsonWriter&, const Handle&)) {
  json.key(key).begin_array();
  for (const Handle& handle : handles)
    write(json, handle);
  json.end();
}

} // namespace

void write_handles(JsonWriter& json, const std::optional<ProcessHandles>& handles) {
  if (!handles)
    return; // as in documents of earlier versions
  json.key("handles").begin_object();
  json.member("listed", handles->listed);
  json.member("dll", handles->dll);
  write_or_null(json, "dll_version", handles->dll_version);
  write_each(json, "communicators", handles->communicators, write_communicator);
  write_each(json, "requests", handles->requests, write_request);
  write_each(json, "errhandlers", handles->errhandlers, write_errhandler);
  write_each(json, "statuses", handles->statuses, write_status);
  write_each(json, "refused", handles->refused, write_refusal);
  write_kinds(json, "unlisted", handles->unlisted);
  write_kinds(json, "incomplete", handles->incomplete);
  json.end();
}

} // namespace mqbridge
