#include "host/mqs/worker/handle_items.h"

#include "host/mqs/worker/debug_dll.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

namespace mqbridge::worker {
namespace {

using wire::HandleList;
using wire::Item;

/// A bit of `known`, and the end of the last member that the bit speaks for.
struct Extent {
  std::uint32_t bit;
  std::size_t end;
};

#define END_OF(structure, member)                                                                  \
  (offsetof(structure, member) + sizeof(static_cast<structure*>(nullptr)->member))

constexpr Extent comm_extents[] = {
    {MPIDBG_KNOWN_FORTRAN, END_OF(mpidbg_comm_description, fortran_handle)},
    {MPIDBG_KNOWN_ERRHANDLER, END_OF(mpidbg_comm_description, errhandler)},
    {MPIDBG_KNOWN_CONTEXT, END_OF(mpidbg_comm_description, context)},
    {MPIDBG_KNOWN_NEIGHBORS, END_OF(mpidbg_comm_description, destination_weights)},
};
constexpr Extent request_extents[] = {
    {MPIDBG_KNOWN_FORTRAN, END_OF(mpidbg_request_description, fortran_handle)},
    {MPIDBG_KNOWN_PERSISTENT, END_OF(mpidbg_request_description, persistent)},
    {MPIDBG_KNOWN_COMM, END_OF(mpidbg_request_description, comm)},
    {MPIDBG_KNOWN_PEER, END_OF(mpidbg_request_description, peer)},
    {MPIDBG_KNOWN_TAG, END_OF(mpidbg_request_description, tag)},
    {MPIDBG_KNOWN_COUNT, END_OF(mpidbg_request_description, count)},
    {MPIDBG_KNOWN_BYTES, END_OF(mpidbg_request_description, bytes)},
    {MPIDBG_KNOWN_BUFFER, END_OF(mpidbg_request_description, buffer)},
    {MPIDBG_KNOWN_ACTUAL, END_OF(mpidbg_request_description, actual_tag)},
    {MPIDBG_KNOWN_ACTUAL_BYTES, END_OF(mpidbg_request_description, actual_bytes)},
    {MPIDBG_KNOWN_ERROR, END_OF(mpidbg_request_description, error)},
    {MPIDBG_KNOWN_CANCELLED, END_OF(mpidbg_request_description, cancelled)},
    {MPIDBG_KNOWN_SITE, END_OF(mpidbg_request_description, site)},
};
constexpr Extent status_extents[] = {
    {MPIDBG_KNOWN_ACTUAL, END_OF(mpidbg_status_description, tag)},
    {MPIDBG_KNOWN_ERROR, END_OF(mpidbg_status_description, error)},
    {MPIDBG_KNOWN_CANCELLED, END_OF(mpidbg_status_description, cancelled)},
    {MPIDBG_KNOWN_ACTUAL_BYTES, END_OF(mpidbg_status_description, bytes)},
};
#undef END_OF

template <class Description, std::size_t count>
Description cut(const Description* from, const Extent (&extents)[count]) {
  Description result;
  std::memset(&result, 0, sizeof result);
  std::memcpy(&result, from, std::min<std::size_t>(from->size, sizeof result));
  for (const Extent& extent : extents)
    if (from->size < extent.end)
      result.known &= ~extent.bit;
  return result;
}

/// Bit flags may have values that their enumeration does not have.
std::uint32_t bits_of(const auto& flags) {
  std::uint32_t bits = 0;
  static_assert(sizeof flags == sizeof bits);
  std::memcpy(&bits, &flags, sizeof bits);
  return bits;
}

std::string_view name_in(const char (&text)[MPIDBG_MAX_OBJECT_NAME]) {
  return {text, ::strnlen(text, sizeof text)};
}

} // namespace

mpidbg_comm_description cut_to_size(const mpidbg_comm_description* from) {
  return cut(from, comm_extents);
}

mpidbg_request_description cut_to_size(const mpidbg_request_description* from) {
  return cut(from, request_extents);
}

mpidbg_status_description cut_to_size(const mpidbg_status_description* from) {
  return cut(from, status_extents);
}

bool HandleItems::plausible(std::int64_t count, std::string_view of) {
  if (count >= 0 && count <= wire::max_group_size &&
      total_ + static_cast<std::uint64_t>(count) <= wire::max_group_total)
    return true;
  outbox_.note(std::to_string(count) + " " + std::string(of) + " of a handle: they were not read");
  return false;
}

void HandleItems::send(HandleList id, std::size_t count, auto number_at) {
  total_ += count;
  std::size_t at = 0;
  do { // one item at least: the list is known
    wire::Encoder item;
    item.put(Item::numbers).put(id);
    for (const std::size_t end = std::min(count, at + wire::max_numbers_chunk); at < end; ++at)
      item.put(static_cast<std::int64_t>(number_at(at)));
    outbox_.add(item);
  } while (at < count);
}

template <class Number>
void HandleItems::list(HandleList id, std::int64_t count, const Number* numbers) {
  if (numbers != nullptr && plausible(count, "elements of a list") && count > 0)
    send(id, static_cast<std::size_t>(count), [=](std::size_t i) { return numbers[i]; });
}

template <class Number>
void HandleItems::known_list(HandleList id, std::int64_t count, const Number* numbers,
                             bool null_is_none) {
  if (count == 0 && (numbers != nullptr || null_is_none))
    send(id, 0, [](std::size_t) { return 0; });
  else
    list(id, count, numbers);
}

void HandleItems::group(HandleList id, std::int64_t count, const mpidbg_process_t* processes) {
  if (processes != nullptr && plausible(count, "processes") && count > 0)
    send(id, static_cast<std::size_t>(count),
         [=](std::size_t i) { return processes[i].mpi_comm_world_rank; });
}

void HandleItems::groups(const mpidbg_comm_info_t& info) {
  group(HandleList::local_group, info.comm_num_local_procs, info.comm_local_procs);
  if ((bits_of(info.comm_bitflags) & MPIDBG_COMM_INFO_INTERCOMM) != 0)
    group(HandleList::remote_group, info.comm_num_remote_procs, info.comm_remote_procs);
}

void HandleItems::topology(const mpidbg_comm_info_t& info,
                           const mpidbg_comm_description* description) {
  if ((bits_of(info.comm_bitflags) & MPIDBG_COMM_INFO_CARTESIAN) != 0) {
    known_list(HandleList::dims, info.comm_cart_num_dims, info.comm_cart_dims);
    known_list(HandleList::periods, info.comm_cart_num_dims, info.comm_cart_periods);
  }
  if ((bits_of(info.comm_bitflags) & MPIDBG_COMM_INFO_GRAPH) != 0) {
    const std::int64_t nodes = info.comm_graph_num_nodes;
    known_list(HandleList::index, nodes, info.comm_graph_index);
    if (info.comm_graph_index != nullptr && nodes > 0 && nodes <= wire::max_group_size)
      known_list(HandleList::edges, info.comm_graph_index[nodes - 1], info.comm_graph_edges);
  }
  if (description == nullptr || (description->known & MPIDBG_KNOWN_NEIGHBORS) == 0)
    return;
  known_list(HandleList::sources, description->num_sources, description->sources);
  known_list(HandleList::destinations, description->num_destinations, description->destinations);
  if (description->weighted == 0)
    return;
  known_list(HandleList::source_weights, description->num_sources, description->source_weights);
  known_list(HandleList::destination_weights, description->num_destinations,
             description->destination_weights);
}

/// `known`: the communicator has no other attributes than these, even if there are none.
void HandleItems::attributes(const mpidbg_comm_info_t& info, bool known) {
  const std::int64_t count = info.comm_num_attrs;
  if (info.comm_attrs == nullptr && !(known && count == 0))
    return;
  if (count < 0 || count > static_cast<std::int64_t>(wire::max_attributes)) {
    outbox_.note(std::to_string(count) + " attributes of a communicator: they were not read");
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const mpidbg_attribute_pair_t& pair = info.comm_attrs[i];
    outbox_.add(wire::Encoder()
                    .put(Item::attribute)
                    .put(static_cast<std::int32_t>(pair.keyval))
                    .text(bounded(pair.keyval_name))
                    .text(bounded(pair.value)));
  }
  send(HandleList::attributes, 0, [](std::size_t) { return 0; });
}

void HandleItems::communicator(std::uint64_t handle, const mpidbg_comm_info_t& info,
                               std::uint64_t capabilities,
                               const mpidbg_comm_description* description, bool is_owner) {
  groups(info);
  topology(info, description);
  attributes(info, description != nullptr && (description->known & MPIDBG_KNOWN_ATTRIBUTES) != 0);
  if ((capabilities & MPIDBG_COMM_CAP_REQUEST_LIST) != 0)
    known_list(HandleList::requests, info.comm_num_pending_requests, info.comm_pending_requests,
               description == nullptr);
  if ((capabilities & MPIDBG_COMM_CAP_WINDOW_LIST) != 0)
    known_list(HandleList::windows, info.comm_num_derived_windows, info.comm_derived_windows,
               description == nullptr);
  if ((capabilities & MPIDBG_COMM_CAP_FILE_LIST) != 0)
    known_list(HandleList::files, info.comm_num_derived_files, info.comm_derived_files,
               description == nullptr);
  wire::CommFields fields{};
  fields.handle = handle;
  fields.flags = bits_of(info.comm_bitflags);
  fields.capabilities = capabilities;
  fields.rank = info.comm_rank;
  fields.size = info.comm_size;
  fields.fortran = info.comm_fortran_handle;
  fields.is_owner = is_owner ? 1 : 0;
  if (description != nullptr) {
    fields.described = 1;
    fields.known = description->known;
    fields.described_fortran = description->fortran_handle;
    fields.errhandler = description->errhandler;
    fields.context = description->context;
  }
  outbox_.add(wire::Encoder().put(Item::comm_handle).put(fields).text(name_in(info.comm_name)));
}

void HandleItems::request(std::uint64_t handle, const mpidbg_request_info_t& info,
                          const mpidbg_request_description* description) {
  const wire::RequestFields fields{handle, bits_of(info.req_bitflags), info.req_fortran_handle,
                                   description != nullptr ? 1U : 0U};
  wire::Encoder item;
  item.put(Item::request_handle).put(fields);
  item.put(description != nullptr ? *description : mpidbg_request_description{});
  outbox_.add(item);
}

void HandleItems::errhandler(std::uint64_t handle, const mpidbg_errhandler_info_t& info,
                             std::uint64_t capabilities, bool extended) {
  if ((capabilities & MPIDBG_ERRH_CAP_HANDLE_LIST) != 0)
    known_list(HandleList::attached, info.eh_refcount, info.eh_handles, !extended);
  const wire::ErrhandlerFields fields{handle,
                                      bits_of(info.eh_bitflags),
                                      capabilities,
                                      info.eh_fortran_handle,
                                      extended ? 1U : 0U,
                                      info.eh_callback_func};
  outbox_.add(wire::Encoder().put(Item::errhandler_handle).put(fields).text(name_in(info.eh_name)));
}

void HandleItems::status(std::uint64_t address, const mpidbg_status_info_t& info,
                         const mpidbg_status_description* description) {
  const wire::StatusFields fields{address, bits_of(info.status_bitflags),
                                  description != nullptr ? 1U : 0U};
  wire::Encoder item;
  item.put(Item::status_handle).put(fields);
  item.put(description != nullptr ? *description : mpidbg_status_description{});
  outbox_.add(item);
}

void HandleItems::refused(const wire::AskedHandle& asked, std::string_view why) {
  outbox_.add(wire::Encoder().put(Item::refused).put(asked).text(why));
}

void HandleItems::list_end(std::uint8_t kind, wire::ListEnd end) {
  outbox_.add(wire::Encoder().put(Item::list_end).put(kind).put(end));
}

} // namespace mqbridge::worker
