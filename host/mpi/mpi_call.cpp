#include "host/mpi/mpi_call.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <utility>

namespace mqbridge {
namespace {

template <class Value>
struct Named {
  std::string_view name; ///< without "MPI_"
  Value value;
};

constexpr auto calls = std::to_array<Named<CallKind>>({
    {"Recv", CallKind::receive},
    {"Mrecv", CallKind::receive},
    {"Probe", CallKind::probe},
    {"Mprobe", CallKind::mprobe},
    {"Send", CallKind::send},
    {"Ssend", CallKind::send},
    {"Rsend", CallKind::send},
    {"Bsend", CallKind::send},
    {"Sendrecv", CallKind::exchange},
    {"Sendrecv_replace", CallKind::exchange},
    {"Wait", CallKind::wait_all},
    {"Waitall", CallKind::wait_all},
    {"Waitany", CallKind::wait_any},
    {"Waitsome", CallKind::wait_any},
    {"Test", CallKind::poll},
    {"Testall", CallKind::poll},
    {"Testany", CallKind::poll},
    {"Testsome", CallKind::poll},
    {"Iprobe", CallKind::poll},
    {"Improbe", CallKind::poll},
    {"Request_get_status", CallKind::poll},
    {"Finalize", CallKind::finalize},
    {"Comm_accept", CallKind::connect},
    {"Comm_connect", CallKind::connect},
    {"Comm_join", CallKind::connect},
    {"Comm_spawn", CallKind::connect},
    {"Comm_spawn_multiple", CallKind::connect},
    {"Comm_create", CallKind::construct},
    {"Comm_create_group", CallKind::construct},
    {"Comm_disconnect", CallKind::construct},
    {"Comm_dup", CallKind::construct},
    {"Comm_dup_with_info", CallKind::construct},
    {"Comm_free", CallKind::construct},
    {"Comm_split", CallKind::construct},
    {"Comm_split_type", CallKind::construct},
    {"Cart_create", CallKind::construct},
    {"Cart_sub", CallKind::construct},
    {"Dist_graph_create", CallKind::construct},
    {"Dist_graph_create_adjacent", CallKind::construct},
    {"Graph_create", CallKind::construct},
    {"Intercomm_create", CallKind::construct},
    {"Intercomm_merge", CallKind::construct},
    {"Win_allocate", CallKind::construct},
    {"Win_allocate_shared", CallKind::construct},
    {"Win_create", CallKind::construct},
    {"Win_create_dynamic", CallKind::construct},
    {"Win_free", CallKind::construct},
});

constexpr auto collectives = std::to_array<Named<CollectiveKind>>({
    {"Allgather", CollectiveKind::everybody},
    {"Allgatherv", CollectiveKind::everybody},
    {"Allreduce", CollectiveKind::everybody},
    {"Alltoall", CollectiveKind::everybody},
    {"Alltoallv", CollectiveKind::other}, // a block of no elements is not waited for
    {"Alltoallw", CollectiveKind::other},
    {"Barrier", CollectiveKind::everybody},
    {"Bcast", CollectiveKind::from_root},
    {"Exscan", CollectiveKind::chain},
    {"Gather", CollectiveKind::to_root},
    {"Gatherv", CollectiveKind::other}, // nor here
    {"Neighbor_allgather", CollectiveKind::other},
    {"Neighbor_allgatherv", CollectiveKind::other},
    {"Neighbor_alltoall", CollectiveKind::other},
    {"Neighbor_alltoallv", CollectiveKind::other},
    {"Neighbor_alltoallw", CollectiveKind::other},
    {"Reduce", CollectiveKind::to_root},
    {"Reduce_scatter", CollectiveKind::everybody},
    {"Reduce_scatter_block", CollectiveKind::everybody},
    {"Scan", CollectiveKind::chain},
    {"Scatter", CollectiveKind::from_root},
    {"Scatterv", CollectiveKind::from_root},
});

/// Beginnings of the names of calls that return by themselves.
constexpr auto local_families = std::to_array<std::string_view>({"Add_error_",
                                                                 "Address",
                                                                 "Aint_",
                                                                 "Alloc_mem",
                                                                 "Attr_",
                                                                 "Bsend_init",
                                                                 "Buffer_attach",
                                                                 "Cancel",
                                                                 "Cart_coords",
                                                                 "Cart_get",
                                                                 "Cart_map",
                                                                 "Cart_rank",
                                                                 "Cart_shift",
                                                                 "Cartdim_get",
                                                                 "Comm_call_",
                                                                 "Comm_compare",
                                                                 "Comm_create_errhandler",
                                                                 "Comm_create_keyval",
                                                                 "Comm_delete_attr",
                                                                 "Comm_free_keyval",
                                                                 "Comm_get_",
                                                                 "Comm_group",
                                                                 "Comm_rank",
                                                                 "Comm_remote_",
                                                                 "Comm_set_",
                                                                 "Comm_size",
                                                                 "Comm_test_inter",
                                                                 "Dims_create",
                                                                 "Dist_graph_neighbors",
                                                                 "Error_",
                                                                 "Errhandler_",
                                                                 "Finalized",
                                                                 "Free_mem",
                                                                 "Get_address",
                                                                 "Get_count",
                                                                 "Get_elements",
                                                                 "Get_library_version",
                                                                 "Get_processor_name",
                                                                 "Get_version",
                                                                 "Graph_get",
                                                                 "Graph_map",
                                                                 "Graph_neighbors",
                                                                 "Graphdims_get",
                                                                 "Grequest_",
                                                                 "Group_",
                                                                 "Info_",
                                                                 "Initialized",
                                                                 "Is_thread_main",
                                                                 "Keyval_",
                                                                 "Op_",
                                                                 "Pack",
                                                                 "Pcontrol",
                                                                 "Query_thread",
                                                                 "Recv_init",
                                                                 "Reduce_local",
                                                                 "Request_free",
                                                                 "Rsend_init",
                                                                 "Send_init",
                                                                 "Ssend_init",
                                                                 "Start",
                                                                 "Status_",
                                                                 "T_",
                                                                 "Test_cancelled",
                                                                 "Topo_test",
                                                                 "Type_",
                                                                 "Unpack",
                                                                 "Wtick",
                                                                 "Wtime"});

template <class Value>
const Named<Value>* find(std::span<const Named<Value>> all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named<Value>::name);
  return found == all.end() ? nullptr : &*found;
}

std::string_view without_prefix(std::string_view call) {
  return call.starts_with("MPI_") ? call.substr(4) : call;
}

/// The collective or call that a nonblocking call starts: "Barrier" for "Ibarrier". Empty: none.
std::string started_by(std::string_view name) {
  if (name.size() < 2 || name.front() != 'I')
    return {};
  std::string blocking(name.substr(1));
  blocking.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(blocking.front())));
  return blocking;
}

/// Whether a call only starts an operation: MPI_Isend, MPI_Ibarrier.
bool starts_something(std::string_view name) {
  const std::string blocking = started_by(name);
  return find<CallKind>(calls, blocking) != nullptr ||
         find<CollectiveKind>(collectives, blocking) != nullptr;
}

} // namespace

CallKind kind_of_call(std::string_view call) {
  const auto name = without_prefix(call);
  if (const auto* known = find<CallKind>(calls, name))
    return known->value;
  if (kind_of_collective(call) != CollectiveKind::none)
    return CallKind::collective;
  const bool local = starts_something(name) || name == "Comm_idup" ||
                     std::ranges::any_of(local_families, [&](std::string_view family) {
                       return name.starts_with(family);
                     });
  return local ? CallKind::local : CallKind::unseen;
}

bool waits_for_one(std::string_view call) {
  switch (kind_of_call(call)) {
  case CallKind::receive:
  case CallKind::probe:
  case CallKind::mprobe:
  case CallKind::send:
    return true;
  default:
    return call == "MPI_Wait";
  }
}

bool fits(CallKind kind, OpClass op_class, OpKind operation) {
  const bool is_probe = operation == OpKind::probe || operation == OpKind::mprobe;
  switch (kind) {
  case CallKind::receive:
    return op_class == OpClass::receive && !is_probe;
  case CallKind::probe:
    return operation == OpKind::probe;
  case CallKind::mprobe:
    return operation == OpKind::mprobe;
  case CallKind::send:
    return op_class == OpClass::send;
  default:
    return !is_probe;
  }
}

CollectiveKind kind_of_collective(std::string_view call) {
  const auto* known = find<CollectiveKind>(collectives, without_prefix(call));
  return known != nullptr ? known->value : CollectiveKind::none;
}

CollectiveKind dependence_of(std::string_view call) {
  constexpr auto free_alone = std::to_array<std::string_view>({"Comm_free", "Comm_disconnect"});
  const auto name = without_prefix(call);
  for (const std::string& each : {std::string(name), started_by(name)})
    if (const auto* known = find<CollectiveKind>(collectives, each))
      return known->value;
  const bool makes = kind_of_call(call) == CallKind::construct || name == "Comm_idup";
  return makes && std::ranges::find(free_alone, name) == free_alone.end()
             ? CollectiveKind::everybody
             : CollectiveKind::other;
}

SendKind kind_of_send(std::string_view call) {
  const auto name = without_prefix(call);
  if (name.starts_with("Ssend") || name == "Issend")
    return SendKind::synchronous;
  return name.starts_with("Bsend") || name == "Ibsend" ? SendKind::buffered : SendKind::standard;
}

bool is_of_blocking_call(Collective collective) {
  return collective != Collective::none && collective != Collective::nonblocking;
}

} // namespace mqbridge
