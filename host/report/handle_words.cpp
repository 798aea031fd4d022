#include "host/report/handle_words.h"

#include "host/document/names.h"
#include "host/dump/values/ranges.h"
#include "host/report/fitted_text.h"
#include "host/report/peer_text.h"
#include "host/report/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

constexpr auto unknown = "not known";
constexpr std::size_t most_listed = 8; ///< of handles, neighbors and attributes in one line

void add(std::string& text, std::string_view piece, std::string_view between = ", ") {
  text += fmt::format("{}{}", text.empty() ? std::string_view() : between, piece);
}

/// The first of a list, and how many are left.
template <class List, class Show>
std::string first_of(const List& list, Show show) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < most_listed; ++i)
    add(text, show(list[i]));
  if (list.size() > most_listed)
    text += fmt::format(" and {} more", list.size() - most_listed);
  return text.empty() ? "none" : text;
}

std::string numbers(const std::vector<int>& list) {
  return first_of(list, [](int number) { return fmt::to_string(number); });
}

template <class T>
std::string number_or_unknown(const std::optional<T>& number) {
  return number ? fmt::to_string(*number) : unknown;
}

std::string tag_text(const std::optional<int>& tag) {
  return tag && *tag == any_tag ? "ANY" : number_or_unknown(tag);
}

/// "world ranks 0-2"; a process whose rank is not known is "none" there.
std::string group_text(const std::vector<std::optional<int>>& group) {
  if (group.empty())
    return "world ranks not known";
  std::vector<std::int64_t> ranks;
  for (const auto& rank : group)
    ranks.push_back(rank.value_or(-1));
  return "world ranks " + range_text(ranks);
}

std::string_view state_words(RequestHandleState state) {
  switch (state) {
  case RequestHandleState::unknown:
    return "not known whether it is complete";
  case RequestHandleState::inactive:
    return "inactive: not started, or completed since";
  case RequestHandleState::active:
    return "active: not complete";
  case RequestHandleState::complete:
    return "complete: MPI_Test or MPI_Wait would return at once";
  case RequestHandleState::freed:
    return "freed by the program, and going on";
  }
  return unknown;
}

std::string cartesian(const Topology& topology) {
  std::string text = fmt::format("cartesian {}", fmt::join(topology.dims, " x "));
  std::vector<std::size_t> periodic;
  for (std::size_t i = 0; i < topology.periods.size(); ++i)
    if (topology.periods[i])
      periodic.push_back(i);
  if (!periodic.empty())
    text += fmt::format(", periodic in {}", fmt::join(periodic, ","));
  return text;
}

std::string dist_graph(const Topology& topology) {
  if (!topology.neighbors_known)
    return "distributed graph, neighbors not known";
  return fmt::format(
      "distributed graph, {}from {}, to {}",
      topology.source_weights.empty() && topology.destination_weights.empty() ? "" : "weighted, ",
      numbers(topology.sources), numbers(topology.destinations));
}

/// "100 x MPI_DOUBLE", "800 B"
std::string size_of(const RequestHandle& request) {
  std::string text;
  if (request.count)
    text = fmt::format("{} x {}", *request.count,
                       request.datatype.empty() ? "?" : printable(request.datatype));
  if (request.bytes)
    add(text, (request.kind == RequestHandleKind::receive ? "at most " : "") +
                  size_text(static_cast<std::int64_t>(*request.bytes)));
  return text.empty() ? std::string("of a size that is not known") : text;
}

void add_fortran(std::vector<HandleLine>& lines, const std::optional<std::int64_t>& fortran) {
  if (fortran)
    lines.emplace_back("Fortran", fmt::to_string(*fortran));
}

std::string freed_text(const std::optional<bool>& freed) {
  return freed ? (*freed ? "freed by the program" : "not freed") : "not known whether it was freed";
}

bool has_message(const RequestHandle& request) {
  return request.kind == RequestHandleKind::send || request.kind == RequestHandleKind::receive;
}

} // namespace

std::string quoted_name(const std::string& name) {
  return name.empty() ? std::string() : fmt::format("\"{}\"", printable(name));
}

HandleWords::HandleWords(const ProcessHandles& handles) {
  for (const auto& communicator : handles.communicators)
    communicators_.emplace(communicator.handle, &communicator);
  for (const auto& errhandler : handles.errhandlers)
    errhandlers_.emplace(errhandler.handle, &errhandler);
}

std::string HandleWords::communicator_name(std::uint64_t handle) const {
  const auto known = communicators_.find(handle);
  if (known == communicators_.end() || known->second->name.empty())
    return hexadecimal(handle);
  return printable(known->second->name);
}

Peer HandleWords::peer_of(const RequestHandle& request, int local) const {
  Peer peer;
  if (local == any_source) {
    peer.any = true;
    return peer;
  }
  peer.local_rank = local;
  const auto known = request.comm ? communicators_.find(*request.comm) : communicators_.end();
  if (local < 0 || known == communicators_.end())
    return peer;
  const auto& communicator = *known->second;
  const auto& group =
      communicator.intercommunicator ? communicator.remote_group : communicator.group;
  if (const auto at = static_cast<std::size_t>(local); at < group.size() && group[at])
    peer.global_rank = *group[at];
  return peer;
}

std::string HandleWords::met_text(const RequestHandle& request) const {
  std::string text;
  if (request.actual_source)
    add(text, fmt::format("from {} tag {}", peer_text(peer_of(request, *request.actual_source)),
                          tag_text(request.actual_tag)));
  if (request.actual_bytes)
    add(text, size_text(static_cast<std::int64_t>(*request.actual_bytes)));
  return text;
}

std::string HandleWords::kind_of(const RequestHandle& request) {
  std::string text(name_of(request.kind));
  if (request.kind == RequestHandleKind::null)
    return "MPI_REQUEST_NULL";
  if (request.kind == RequestHandleKind::unknown)
    text = "kind not known";
  if (request.persistent.value_or(false))
    text += ", persistent";
  return text;
}

std::string HandleWords::topology_of(const CommunicatorHandle& communicator) {
  if (!communicator.topology)
    return unknown;
  const Topology& topology = *communicator.topology;
  std::string text;
  switch (topology.kind) {
  case TopologyKind::none:
    return "none";
  case TopologyKind::cartesian:
    text = cartesian(topology);
    break;
  case TopologyKind::graph:
    text = fmt::format("graph of {} nodes, index {}, edges {}", topology.index.size(),
                       numbers(topology.index), numbers(topology.edges));
    break;
  case TopologyKind::dist_graph:
    text = dist_graph(topology);
    break;
  }
  return text + (topology.reordered.value_or(false) ? ", reordered" : "");
}

std::string HandleWords::attributes_of(const CommunicatorHandle& communicator) {
  if (!communicator.attributes)
    return unknown;
  return first_of(*communicator.attributes, [](const HandleAttribute& attribute) {
    return fmt::format("{}={}",
                       attribute.name.empty() ? fmt::to_string(attribute.keyval)
                                              : printable(attribute.name),
                       attribute.value.empty() ? "?" : printable(attribute.value));
  });
}

std::string HandleWords::place_of(const SharedSite& site) {
  if (!site)
    return {};
  std::string text = site->function ? printable(*site->function) : hexadecimal(site->address.value);
  if (site->file && site->line)
    text += fmt::format(" ({}:{})", printable(*site->file), *site->line);
  return text;
}

std::string HandleWords::list_of(const std::vector<std::uint64_t>& handles) {
  return first_of(handles, hexadecimal);
}

std::vector<HandleLine> HandleWords::about(const CommunicatorHandle& communicator) const {
  if (communicator.null)
    return {{"what", "MPI_COMM_NULL"}};
  std::vector<HandleLine> lines;
  lines.emplace_back("what", fmt::format("{}{}communicator, {}",
                                         communicator.predefined ? "predefined " : "",
                                         communicator.intercommunicator ? "inter" : "intra",
                                         freed_text(communicator.freed)));
  add_fortran(lines, communicator.fortran);
  lines.emplace_back("whose", fmt::format("rank {} of {}, {}", number_or_unknown(communicator.rank),
                                          number_or_unknown(communicator.size),
                                          group_text(communicator.group)));
  if (communicator.remote_size)
    lines.emplace_back("remote", fmt::format("{} processes, {}", *communicator.remote_size,
                                             group_text(communicator.remote_group)));
  lines.emplace_back("topology", topology_of(communicator));
  lines.emplace_back("attributes", attributes_of(communicator));
  if (communicator.errhandler) {
    const auto known = errhandlers_.find(*communicator.errhandler);
    const bool has_name = known != errhandlers_.end() && !known->second->name.empty();
    lines.emplace_back("errors", hexadecimal(*communicator.errhandler) +
                                     (has_name ? " " + printable(known->second->name) : ""));
  }
  if (communicator.context)
    lines.emplace_back("context", hexadecimal(*communicator.context));
  for (const auto& [label, list] :
       {std::pair("requests", &communicator.requests), std::pair("windows", &communicator.windows),
        std::pair("files", &communicator.files)})
    if (*list)
      lines.emplace_back(label, list_of(**list));
  return lines;
}

std::vector<HandleLine> HandleWords::about(const RequestHandle& request) const {
  std::vector<HandleLine> lines;
  lines.emplace_back("what", kind_of(request) +
                                 (request.predefined && request.kind != RequestHandleKind::null
                                      ? ", made by the MPI for itself"
                                      : ""));
  if (request.kind == RequestHandleKind::null)
    return lines;
  add_fortran(lines, request.fortran);
  if (const auto place = place_of(request.site); !place.empty() || !request.call.empty())
    lines.emplace_back("made by",
                       fmt::format("{}{}{}", printable(request.call),
                                   place.empty() || request.call.empty() ? "" : " in ", place));
  lines.emplace_back("state", state_words(request.state));
  if (request.comm)
    lines.emplace_back("whose", "of communicator " + communicator_name(*request.comm));
  if (has_message(request)) {
    const auto peer = request.peer ? peer_text(peer_of(request, *request.peer)) : unknown;
    const bool is_send = request.kind == RequestHandleKind::send;
    lines.emplace_back(
        "message",
        fmt::format("{} {} tag {}, {}{}", is_send ? "to" : "from", peer, tag_text(request.tag),
                    size_of(request),
                    request.buffer ? fmt::format(", at {:#x}", *request.buffer) : std::string()));
  }
  if (const auto met = met_text(request); !met.empty())
    lines.emplace_back("has met", met);
  if (request.error)
    lines.emplace_back("error", *request.error == 0 ? "MPI_SUCCESS"
                                                    : fmt::format("MPI_ERROR {}", *request.error));
  if (request.cancelled.value_or(false))
    lines.emplace_back("cancelled", "yes");
  return lines;
}

std::vector<HandleLine> HandleWords::about(const ErrhandlerHandle& errhandler) const {
  std::vector<HandleLine> lines;
  std::string what = errhandler.predefined ? "predefined" : "of the program";
  if (errhandler.callback)
    what += fmt::format(", its function is at {:#x}", *errhandler.callback);
  if (errhandler.c_callback)
    what += *errhandler.c_callback ? ", in C" : ", in Fortran";
  lines.emplace_back("what", fmt::format("{}, {}", what, freed_text(errhandler.freed)));
  add_fortran(lines, errhandler.fortran);
  std::string objects;
  for (const auto& [is_for, name] :
       {std::pair(errhandler.for_communicators, "communicators"),
        std::pair(errhandler.for_files, "files"), std::pair(errhandler.for_windows, "windows")})
    if (is_for)
      add(objects, name);
  if (!objects.empty())
    lines.emplace_back("for", objects);
  if (errhandler.attached_to)
    lines.emplace_back("attached to",
                       first_of(*errhandler.attached_to, [this](std::uint64_t handle) {
                         return communicator_name(handle);
                       }));
  return lines;
}

std::vector<HandleLine> HandleWords::about(const StatusHandle& status) const {
  if (status.ignore)
    return {{"what", "MPI_STATUS_IGNORE"}};
  std::vector<HandleLine> lines;
  lines.emplace_back("source", number_or_unknown(status.source));
  lines.emplace_back("tag", number_or_unknown(status.tag));
  lines.emplace_back("error", number_or_unknown(status.error));
  lines.emplace_back("size", status.bytes ? size_text(static_cast<std::int64_t>(*status.bytes))
                                          : std::string(unknown));
  lines.emplace_back("cancelled", status.cancelled ? (*status.cancelled ? "yes" : "no") : unknown);
  return lines;
}

} // namespace mqbridge
