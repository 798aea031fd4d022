#pragma once

#include "host/document/operation_members.h"
#include "host/mqs/handles.h"

namespace mqbridge {

void describe(auto& form, Topology& topology) {
  form.member("kind", topology.kind);
  form.member("reordered", topology.reordered);
  if (form.has(topology.kind == TopologyKind::cartesian)) {
    form.member("dims", topology.dims);
    form.member("periods", topology.periods);
  }
  if (form.has(topology.kind == TopologyKind::graph)) {
    form.member("index", topology.index);
    form.member("edges", topology.edges);
  }
  if (form.has(topology.kind == TopologyKind::dist_graph)) {
    form.member("neighbors_known", topology.neighbors_known);
    form.member("sources", topology.sources);
    form.member("source_weights", topology.source_weights);
    form.member("destinations", topology.destinations);
    form.member("destination_weights", topology.destination_weights);
  }
}

void describe(auto& form, HandleAttribute& attribute) {
  form.member("keyval", attribute.keyval);
  form.member("name", attribute.name, or_null);
  form.member("value", attribute.value, or_null);
}

void describe(auto& form, CommunicatorHandle& handle) {
  form.member("handle", handle.handle, as_address);
  form.member("fortran", handle.fortran);
  form.member("null", handle.null);
  form.member("predefined", handle.predefined);
  form.member("intercommunicator", handle.intercommunicator);
  form.member("freed", handle.freed);
  form.member("name", handle.name, or_null);
  form.member("rank", handle.rank);
  form.member("size", handle.size);
  form.member("remote_size", handle.remote_size);
  form.member("group", handle.group);
  form.member("remote_group", handle.remote_group);
  form.member("context", handle.context, as_address);
  form.object("topology", handle.topology, one_line);
  form.list("attributes", handle.attributes, one_line);
  form.member("errhandler", handle.errhandler, as_address);
  form.member("requests", handle.requests, as_address);
  form.member("windows", handle.windows, as_address);
  form.member("files", handle.files, as_address);
}

void describe(auto& form, RequestHandle& handle) {
  form.member("handle", handle.handle, as_address);
  form.member("fortran", handle.fortran);
  form.member("predefined", handle.predefined);
  form.member("kind", handle.kind, RequestHandleKind::unknown);
  form.member("state", handle.state, RequestHandleState::unknown);
  form.member("persistent", handle.persistent);
  form.member("communicator", handle.comm, as_address);
  form.member("peer", handle.peer);
  form.member("tag", handle.tag);
  form.member("count", handle.count);
  form.member("bytes", handle.bytes);
  form.member("buffer", handle.buffer, as_address);
  form.member("datatype", handle.datatype, or_null);
  form.member("actual_source", handle.actual_source);
  form.member("actual_tag", handle.actual_tag);
  form.member("actual_bytes", handle.actual_bytes);
  form.member("error", handle.error);
  form.member("cancelled", handle.cancelled);
  form.member("call", handle.call, or_null);
  form.members(handle.site);
}

void describe(auto& form, ErrhandlerHandle& handle) {
  form.member("handle", handle.handle, as_address);
  form.member("fortran", handle.fortran);
  form.member("predefined", handle.predefined);
  form.member("name", handle.name, or_null);
  form.member("for_communicators", handle.for_communicators);
  form.member("for_files", handle.for_files);
  form.member("for_windows", handle.for_windows);
  form.member("c_callback", handle.c_callback);
  form.member("freed", handle.freed);
  form.member("callback", handle.callback, as_address);
  form.member("attached_to", handle.attached_to, as_address);
}

void describe(auto& form, StatusHandle& status) {
  form.member("address", status.address, as_address);
  form.member("ignore", status.ignore);
  form.member("source", status.source);
  form.member("tag", status.tag);
  form.member("error", status.error);
  form.member("cancelled", status.cancelled);
  form.member("bytes", status.bytes);
}

void describe(auto& form, HandleRefusal& refusal) {
  form.member("kind", refusal.handle.kind);
  form.member("value", refusal.handle.value, as_address);
  form.member("fortran", refusal.handle.fortran);
  form.member("reason", refusal.reason);
}

void describe(auto& form, ProcessHandles& handles) {
  form.member("listed", handles.listed);
  form.member("dll", handles.dll);
  form.member("dll_version", handles.dll_version, or_null);
  form.list("communicators", handles.communicators);
  form.list("requests", handles.requests);
  form.list("errhandlers", handles.errhandlers);
  form.list("statuses", handles.statuses, one_line);
  form.list("refused", handles.refused, one_line);
  form.member("unlisted", handles.unlisted);
  form.member("incomplete", handles.incomplete);
}

} // namespace mqbridge
