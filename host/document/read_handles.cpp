#include "host/document/read_parts.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;
using Handles = std::vector<std::uint64_t>;

constexpr std::int64_t least_int = std::numeric_limits<int>::min();
constexpr std::int64_t most_int = std::numeric_limits<int>::max();

std::string text_or_empty(const Fields& fields, std::string_view key) {
  auto text = fields.maybe_text(key).value_or("");
  fields.state().spend(text.size());
  return text;
}

std::optional<int> maybe_int(const Fields& fields, std::string_view key) {
  const auto value = fields.maybe_integer(key, least_int, most_int);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<std::uint64_t> maybe_handle(const Fields& fields, std::string_view key) {
  const auto address = fields.maybe_address(key);
  return address ? std::optional(address->value) : std::nullopt;
}

std::vector<int> read_ints(const Fields& fields, std::string_view key) {
  std::vector<int> numbers;
  fields.each(key, [&](const json& element, const Place& place) {
    const auto number = integer_of(element);
    if (!number || *number < least_int || *number > most_int)
      return fields.state().complain(place, "an int");
    numbers.push_back(static_cast<int>(*number));
  });
  fields.state().spend(numbers.size() * sizeof(int));
  return numbers;
}

std::optional<Handles> maybe_handles(const Fields& fields, std::string_view key) {
  if (fields.is_null(key))
    return std::nullopt;
  Handles handles;
  fields.each(key, [&](const json& element, const Place& place) {
    // As a member of an object: these have a form of their own.
    const json holder = {{"handle", element}};
    handles.push_back(Fields(holder, place, fields.state()).address("handle").value);
  });
  fields.state().spend(handles.size() * sizeof(std::uint64_t));
  return handles;
}

/// As runs, with -1 for a process whose rank is not known.
std::vector<std::optional<int>> read_group(const Fields& fields, std::string_view key) {
  std::vector<std::optional<int>> group;
  if (fields.is_null(key))
    return group;
  for (const std::int64_t rank : read_runs(fields, key)) {
    const bool is_rank = rank >= 0 && rank <= most_int;
    group.push_back(is_rank ? std::optional(static_cast<int>(rank)) : std::nullopt);
  }
  fields.state().spend(group.size() * sizeof(group[0]));
  return group;
}

std::optional<Topology> read_topology(const Fields& outer) {
  if (outer.is_null("topology"))
    return std::nullopt;
  const Fields fields(outer, "topology");
  Topology topology;
  topology.kind = fields.word<TopologyKind>("kind");
  topology.reordered = fields.maybe_flag("reordered");
  switch (topology.kind) {
  case TopologyKind::none:
    break;
  case TopologyKind::cartesian:
    topology.dims = read_ints(fields, "dims");
    fields.each("periods", [&](const json& element, const Place& place) {
      if (!element.is_boolean())
        return fields.state().complain(place, "true or false");
      topology.periods.push_back(element.get<bool>());
    });
    break;
  case TopologyKind::graph:
    topology.index = read_ints(fields, "index");
    topology.edges = read_ints(fields, "edges");
    break;
  case TopologyKind::dist_graph:
    topology.neighbors_known = fields.flag("neighbors_known");
    topology.sources = read_ints(fields, "sources");
    topology.source_weights = read_ints(fields, "source_weights");
    topology.destinations = read_ints(fields, "destinations");
    topology.destination_weights = read_ints(fields, "destination_weights");
    break;
  }
  return topology;
}

std::optional<std::vector<HandleAttribute>> read_attributes(const Fields& fields) {
  if (fields.is_null("attributes"))
    return std::nullopt;
  std::vector<HandleAttribute> attributes;
  fields.each("attributes", [&](const json& element, const Place& place) {
    const Fields each(element, place, fields.state());
    attributes.push_back({static_cast<int>(each.integer("keyval", least_int, most_int)),
                          text_or_empty(each, "name"), text_or_empty(each, "value")});
    fields.state().spend(sizeof(HandleAttribute));
  });
  return attributes;
}

CommunicatorHandle read_communicator_handle(const Fields& fields) {
  CommunicatorHandle handle;
  handle.handle = fields.address("handle").value;
  handle.fortran = fields.maybe_integer("fortran");
  handle.null = fields.flag("null");
  handle.predefined = fields.flag("predefined");
  handle.intercommunicator = fields.flag("intercommunicator");
  handle.freed = fields.maybe_flag("freed");
  handle.name = text_or_empty(fields, "name");
  handle.rank = maybe_int(fields, "rank");
  handle.size = maybe_int(fields, "size");
  handle.remote_size = maybe_int(fields, "remote_size");
  handle.group = read_group(fields, "group");
  handle.remote_group = read_group(fields, "remote_group");
  handle.context = maybe_handle(fields, "context");
  handle.topology = read_topology(fields);
  handle.attributes = read_attributes(fields);
  handle.errhandler = maybe_handle(fields, "errhandler");
  handle.requests = maybe_handles(fields, "requests");
  handle.windows = maybe_handles(fields, "windows");
  handle.files = maybe_handles(fields, "files");
  return handle;
}

RequestHandle read_request_handle(const Fields& fields) {
  RequestHandle handle;
  handle.handle = fields.address("handle").value;
  handle.fortran = fields.maybe_integer("fortran");
  handle.predefined = fields.flag("predefined");
  handle.kind = fields.word_or("kind", RequestHandleKind::unknown);
  handle.state = fields.word_or("state", RequestHandleState::unknown);
  handle.persistent = fields.maybe_flag("persistent");
  handle.comm = maybe_handle(fields, "communicator");
  handle.peer = maybe_int(fields, "peer");
  handle.tag = maybe_int(fields, "tag");
  handle.count = fields.maybe_count("count");
  handle.bytes = fields.maybe_count("bytes");
  handle.buffer = maybe_handle(fields, "buffer");
  handle.datatype = text_or_empty(fields, "datatype");
  handle.actual_source = maybe_int(fields, "actual_source");
  handle.actual_tag = maybe_int(fields, "actual_tag");
  handle.actual_bytes = fields.maybe_count("actual_bytes");
  handle.error = maybe_int(fields, "error");
  handle.cancelled = fields.maybe_flag("cancelled");
  handle.call = text_or_empty(fields, "call");
  handle.site = read_site(fields);
  return handle;
}

ErrhandlerHandle read_errhandler_handle(const Fields& fields) {
  ErrhandlerHandle handle;
  handle.handle = fields.address("handle").value;
  handle.fortran = fields.maybe_integer("fortran");
  handle.predefined = fields.flag("predefined");
  handle.name = text_or_empty(fields, "name");
  handle.for_communicators = fields.flag("for_communicators");
  handle.for_files = fields.flag("for_files");
  handle.for_windows = fields.flag("for_windows");
  handle.c_callback = fields.maybe_flag("c_callback");
  handle.freed = fields.maybe_flag("freed");
  handle.callback = maybe_handle(fields, "callback");
  handle.attached_to = maybe_handles(fields, "attached_to");
  return handle;
}

StatusHandle read_status_handle(const Fields& fields) {
  StatusHandle handle;
  handle.address = fields.address("address").value;
  handle.ignore = fields.flag("ignore");
  handle.source = maybe_int(fields, "source");
  handle.tag = maybe_int(fields, "tag");
  handle.error = maybe_int(fields, "error");
  handle.cancelled = fields.maybe_flag("cancelled");
  handle.bytes = fields.maybe_count("bytes");
  return handle;
}

HandleRefusal read_refusal(const Fields& fields) {
  return {{fields.word<HandleKind>("kind"), fields.address("value").value, fields.flag("fortran")},
          fields.text("reason")};
}

template <class Handle>
std::vector<Handle> read_each(const Fields& fields, std::string_view key,
                              Handle (*read)(const Fields&)) {
  std::vector<Handle> handles;
  fields.each(key, [&](const json& element, const Place& place) {
    handles.push_back(read(Fields(element, place, fields.state())));
    fields.state().spend(sizeof(Handle));
  });
  return handles;
}

/// A kind of a later version is none that this version knows anything of.
std::vector<HandleKind> read_kinds(const Fields& fields, std::string_view key) {
  std::vector<HandleKind> kinds;
  for (const auto& word : fields.texts(key, 64))
    if (const auto kind = value_named<HandleKind>(word))
      kinds.push_back(*kind);
  return kinds;
}

} // namespace

std::optional<ProcessHandles> read_handles(const Fields& rank) {
  if (rank.is_null("handles"))
    return std::nullopt;
  const Fields fields(rank, "handles");
  ProcessHandles handles;
  handles.listed = fields.flag("listed");
  handles.dll = fields.text("dll");
  handles.dll_version = text_or_empty(fields, "dll_version");
  handles.communicators = read_each(fields, "communicators", read_communicator_handle);
  handles.requests = read_each(fields, "requests", read_request_handle);
  handles.errhandlers = read_each(fields, "errhandlers", read_errhandler_handle);
  handles.statuses = read_each(fields, "statuses", read_status_handle);
  handles.refused = read_each(fields, "refused", read_refusal);
  handles.unlisted = read_kinds(fields, "unlisted");
  handles.incomplete = read_kinds(fields, "incomplete");
  return handles;
}

} // namespace mqbridge
