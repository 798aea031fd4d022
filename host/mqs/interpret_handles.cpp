#include "host/mqs/interpret_handles.h"

#include "host/memory/address.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace mqbridge {
namespace {

using wire::HandleList;
using Numbers = HandleLists::Numbers;

/// Some version 1 DLLs put a return code where a Fortran handle would be: then it is not known.
bool is_code(std::int64_t fortran) {
  return fortran == MPIDBG_ERR_NOT_SUPPORTED || fortran == MPIDBG_ERR_UNAVAILABLE;
}

std::optional<std::int64_t> fortran_of_version_1(std::int64_t fortran) {
  return is_code(fortran) ? std::nullopt : std::optional(fortran);
}

/// Tells by the bits of `known` which members of fields and descriptions from the wire are known.
class Known {
public:
  explicit Known(std::uint64_t bits) : bits_(bits) {}
  bool has(std::uint64_t bit) const { return (bits_ & bit) != 0; }
  template <class To, class From>
  void set(std::optional<To>& to, std::uint64_t bit, From value) const {
    if (has(bit))
      to = static_cast<To>(value);
  }

private:
  std::uint64_t bits_;
};

std::vector<int> ints_of(const Numbers& numbers) {
  std::vector<int> result;
  result.reserve(numbers.size());
  for (const auto number : numbers)
    result.push_back(static_cast<int>(number)); // it was one in the DLL
  return result;
}

std::vector<std::uint64_t> handles_of(const Numbers& numbers, int pointer_size) {
  std::vector<std::uint64_t> result;
  result.reserve(numbers.size());
  for (const auto number : numbers)
    result.push_back(at_pointer_width(static_cast<std::uint64_t>(number), pointer_size).value);
  return result;
}

std::optional<std::vector<std::uint64_t>> handles_of(const std::optional<Numbers>& numbers,
                                                     int pointer_size) {
  return numbers ? std::optional(handles_of(*numbers, pointer_size)) : std::nullopt;
}

/// No process is in a group twice: in such a group no rank is known.
std::vector<std::optional<int>> group_of(const std::optional<Numbers>& ranks) {
  if (!ranks)
    return {};
  Numbers known;
  std::vector<std::optional<int>> group;
  for (const auto rank : *ranks) {
    const bool is_rank = rank >= 0 && rank <= std::numeric_limits<int>::max();
    group.push_back(is_rank ? std::optional(static_cast<int>(rank)) : std::nullopt);
    if (is_rank)
      known.push_back(rank);
  }
  std::ranges::sort(known);
  if (std::ranges::adjacent_find(known) != known.end())
    group.clear();
  return group;
}

void set_members(CommunicatorHandle& to, const wire::CommFields& fields, HandleLists& lists) {
  const auto count = [](std::int64_t value) {
    return value >= 0 && value <= wire::max_group_size ? std::optional(static_cast<int>(value))
                                                       : std::nullopt;
  };
  to.rank = count(fields.rank);
  to.size = count(fields.size);
  if (to.rank && to.size && *to.rank >= *to.size)
    to.rank = to.size = std::nullopt;
  to.group = group_of(lists[HandleList::local_group]);
  if (to.size && !std::cmp_equal(to.group.size(), *to.size))
    to.group.clear();
  if (const auto& remote = lists[HandleList::remote_group]) {
    to.remote_size = static_cast<int>(remote->size());
    to.remote_group = group_of(remote);
  }
}

std::optional<Topology> cartesian(HandleLists& lists) {
  const auto& dims = lists[HandleList::dims];
  const auto& periods = lists[HandleList::periods];
  if (!dims || !periods)
    return std::nullopt;
  Topology topology;
  topology.kind = TopologyKind::cartesian;
  topology.dims = ints_of(*dims);
  for (const auto period : *periods)
    topology.periods.push_back(period != 0);
  return topology;
}

std::optional<Topology> graph(HandleLists& lists) {
  const auto& index = lists[HandleList::index];
  const auto& edges = lists[HandleList::edges];
  if (!index || (!index->empty() && !edges))
    return std::nullopt;
  Topology topology;
  topology.kind = TopologyKind::graph;
  topology.index = ints_of(*index);
  if (edges)
    topology.edges = ints_of(*edges);
  return topology;
}

std::optional<Topology> dist_graph(HandleLists& lists) {
  const auto ints = [&](HandleList list) { return ints_of(lists[list].value_or(Numbers())); };
  Topology topology;
  topology.kind = TopologyKind::dist_graph;
  topology.neighbors_known = lists[HandleList::sources] && lists[HandleList::destinations];
  if (!topology.neighbors_known)
    return topology;
  topology.sources = ints(HandleList::sources);
  topology.destinations = ints(HandleList::destinations);
  topology.source_weights = ints(HandleList::source_weights);
  topology.destination_weights = ints(HandleList::destination_weights);
  return topology;
}

/// If the topology is known and the DLL names none, there is none.
std::optional<Topology> topology_of(std::uint64_t flags, const Known& known, HandleLists& lists) {
  constexpr std::uint64_t kinds =
      MPIDBG_COMM_INFO_CARTESIAN | MPIDBG_COMM_INFO_GRAPH | MPIDBG_COMM_INFO_DIST_GRAPH;
  std::optional<Topology> topology;
  switch (flags & kinds) {
  case 0:
    return known.has(MPIDBG_KNOWN_TOPOLOGY) ? std::optional(Topology{}) : std::nullopt;
  case MPIDBG_COMM_INFO_CARTESIAN:
    topology = cartesian(lists);
    break;
  case MPIDBG_COMM_INFO_GRAPH:
    topology = graph(lists);
    break;
  case MPIDBG_COMM_INFO_DIST_GRAPH:
    topology = dist_graph(lists);
    break;
  default: // several: not known
    break;
  }
  const bool reordered = (flags & MPIDBG_COMM_INFO_TOPO_REORDERED) != 0;
  if (topology && (reordered || known.has(MPIDBG_KNOWN_REORDERED)))
    topology->reordered = reordered;
  return topology;
}

/// `is_told`: if neither bit is set, the handle was not freed.
std::optional<bool> freed(std::uint64_t flags, std::uint64_t bits, bool is_told) {
  const bool was = (flags & bits) != 0;
  return was || is_told ? std::optional(was) : std::nullopt;
}

template <std::size_t size>
std::string text_in(const char (&text)[size]) {
  return {text, ::strnlen(text, size)};
}

template <class Enumeration>
Enumeration enumeration_of(std::int32_t value, Enumeration last) {
  const bool is_one = value >= 0 && value <= static_cast<std::int32_t>(last);
  return is_one ? static_cast<Enumeration>(value) : Enumeration::unknown;
}

} // namespace

CommunicatorHandle communicator_of(const wire::CommFields& fields, std::string name,
                                   HandleLists& lists, std::vector<HandleAttribute> attributes,
                                   int pointer_size) {
  const Known known(fields.described != 0 ? fields.known : 0);
  const auto has_flag = [&](std::uint64_t flag) { return (fields.flags & flag) != 0; };
  CommunicatorHandle result;
  result.handle = at_pointer_width(fields.handle, pointer_size).value;
  if (fields.described == 0)
    result.fortran = fortran_of_version_1(fields.fortran);
  known.set(result.fortran, MPIDBG_KNOWN_FORTRAN, fields.described_fortran);
  result.name = std::move(name);
  result.null = has_flag(MPIDBG_COMM_INFO_COMM_NULL);
  result.predefined = has_flag(MPIDBG_COMM_INFO_PREDEFINED);
  if (result.null)
    return result;
  result.intercommunicator = has_flag(MPIDBG_COMM_INFO_INTERCOMM);
  result.freed = freed(fields.flags, MPIDBG_COMM_INFO_FREED_HANDLE | MPIDBG_COMM_INFO_FREED_OBJECT,
                       (fields.capabilities & MPIDBG_COMM_CAP_FREED_HANDLE) != 0);
  set_members(result, fields, lists);
  if (known.has(MPIDBG_KNOWN_CONTEXT))
    result.context = at_pointer_width(fields.context, pointer_size).value;
  result.topology = topology_of(fields.flags, known, lists);
  if (lists[HandleList::attributes])
    result.attributes = std::move(attributes);
  if (known.has(MPIDBG_KNOWN_ERRHANDLER))
    result.errhandler = at_pointer_width(fields.errhandler, pointer_size).value;
  result.requests = handles_of(lists[HandleList::requests], pointer_size);
  result.windows = handles_of(lists[HandleList::windows], pointer_size);
  result.files = handles_of(lists[HandleList::files], pointer_size);
  return result;
}

RequestHandle request_of(const wire::RequestFields& fields,
                         const mpidbg_request_description& description, int pointer_size) {
  const bool described = fields.described != 0;
  const Known known(described ? description.known : 0);
  RequestHandle result;
  result.handle = at_pointer_width(fields.handle, pointer_size).value;
  result.predefined = (fields.flags & MPIDBG_REQUEST_INFO_PREDEFINED) != 0;
  if (!described) {
    result.fortran = fortran_of_version_1(fields.fortran);
    return result;
  }
  known.set(result.fortran, MPIDBG_KNOWN_FORTRAN, description.fortran_handle);
  result.kind = enumeration_of(description.kind, RequestHandleKind::comm);
  result.state = enumeration_of(description.state, RequestHandleState::freed);
  known.set(result.persistent, MPIDBG_KNOWN_PERSISTENT, description.persistent != 0);
  if (known.has(MPIDBG_KNOWN_COMM))
    result.comm = at_pointer_width(description.comm, pointer_size).value;
  if (description.peer >= MPIDBG_PROC_NULL)
    known.set(result.peer, MPIDBG_KNOWN_PEER, description.peer);
  known.set(result.tag, MPIDBG_KNOWN_TAG, description.tag);
  known.set(result.count, MPIDBG_KNOWN_COUNT, description.count);
  known.set(result.bytes, MPIDBG_KNOWN_BYTES, description.bytes);
  if (known.has(MPIDBG_KNOWN_BUFFER))
    result.buffer = at_pointer_width(description.buffer, pointer_size).value;
  known.set(result.actual_source, MPIDBG_KNOWN_ACTUAL, description.actual_source);
  known.set(result.actual_tag, MPIDBG_KNOWN_ACTUAL, description.actual_tag);
  known.set(result.actual_bytes, MPIDBG_KNOWN_ACTUAL_BYTES, description.actual_bytes);
  known.set(result.error, MPIDBG_KNOWN_ERROR, description.error);
  known.set(result.cancelled, MPIDBG_KNOWN_CANCELLED, description.cancelled != 0);
  result.call = text_in(description.call);
  result.datatype = text_in(description.datatype);
  return result;
}

ErrhandlerHandle errhandler_of(const wire::ErrhandlerFields& fields, std::string name,
                               HandleLists& lists, int pointer_size) {
  const auto has_flag = [&](std::uint64_t flag) { return (fields.flags & flag) != 0; };
  ErrhandlerHandle result;
  result.handle = at_pointer_width(fields.handle, pointer_size).value;
  result.fortran =
      fields.extended != 0 ? std::optional(fields.fortran) : fortran_of_version_1(fields.fortran);
  result.name = std::move(name);
  result.predefined = has_flag(MPIDBG_ERRH_INFO_PREDEFINED);
  result.for_communicators = has_flag(MPIDBG_ERRH_INFO_COMMUNICATOR);
  result.for_files = has_flag(MPIDBG_ERRH_INFO_FILE);
  result.for_windows = has_flag(MPIDBG_ERRH_INFO_WINDOW);
  if (!result.predefined)
    result.c_callback = has_flag(MPIDBG_ERRH_INFO_C_CALLBACK);
  result.freed = freed(fields.flags, MPIDBG_ERRH_INFO_FREED_HANDLE | MPIDBG_ERRH_INFO_FREED_OBJECT,
                       (fields.capabilities & MPIDBG_ERRH_CAP_FREED_HANDLE) != 0 &&
                           !has_flag(MPIDBG_ERRH_INFO_FREED_NOT_KNOWN));
  if (fields.callback != 0)
    result.callback = at_pointer_width(fields.callback, pointer_size).value;
  result.attached_to = handles_of(lists[HandleList::attached], pointer_size);
  return result;
}

StatusHandle status_of(const wire::StatusFields& fields,
                       const mpidbg_status_description& description, int pointer_size) {
  const Known known(fields.described != 0 ? description.known : 0);
  StatusHandle result;
  result.address = at_pointer_width(fields.address, pointer_size).value;
  result.ignore = (fields.flags & MPIDBG_STATUS_INFO_PREDEFINED) != 0;
  known.set(result.source, MPIDBG_KNOWN_ACTUAL, description.source);
  known.set(result.tag, MPIDBG_KNOWN_ACTUAL, description.tag);
  known.set(result.error, MPIDBG_KNOWN_ERROR, description.error);
  known.set(result.cancelled, MPIDBG_KNOWN_CANCELLED, description.cancelled != 0);
  known.set(result.bytes, MPIDBG_KNOWN_ACTUAL_BYTES, description.bytes);
  return result;
}

} // namespace mqbridge
