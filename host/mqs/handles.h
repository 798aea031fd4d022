#pragma once

#include "host/process/call_sites.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

// What a debug DLL says about a process's handles (dll/mpidbg_interface.h). Texts come from the
// target: bounded, not yet fit to be shown. nullopt and empty texts mean not known; a rank of -1
// there is nullopt here.

enum class HandleKind : std::uint8_t { communicator, request, errhandler, status };

/// The question. Without handles it asks for everything that the DLL can list.
struct HandleQuestion {
  struct Handle {
    HandleKind kind = HandleKind::request;
    std::uint64_t value = 0; ///< as in C, zero-extended; for a status its address
    bool fortran = false;    ///< value is a Fortran INTEGER
  };
  std::vector<Handle> handles;
};

struct HandleAttribute {
  int keyval = 0;
  std::string name;  ///< empty: the program's own
  std::string value; ///< an int in decimal, or an address
};

enum class TopologyKind : std::uint8_t { none, cartesian, graph, dist_graph };

struct Topology {
  TopologyKind kind = TopologyKind::none;
  std::optional<bool> reordered;
  std::vector<int> dims;
  std::vector<bool> periods;
  std::vector<int> index, edges;                      ///< graph
  std::vector<int> sources, source_weights;           ///< dist_graph
  std::vector<int> destinations, destination_weights; ///< weights empty: unweighted
  bool neighbors_known = true;                        ///< dist_graph
};

struct CommunicatorHandle {
  std::uint64_t handle = 0;
  std::optional<std::int64_t> fortran;
  bool null = false; ///< MPI_COMM_NULL: the rest is meaningless
  bool predefined = false;
  bool intercommunicator = false;
  std::optional<bool> freed; ///< by the program
  std::string name;
  std::optional<int> rank, size, remote_size;
  std::vector<std::optional<int>> group, remote_group; ///< ranks in MPI_COMM_WORLD, by local rank
  std::optional<std::uint64_t> context;                ///< Communicator::id
  std::optional<Topology> topology;                    ///< nullopt: not known
  std::optional<std::vector<HandleAttribute>> attributes;
  std::optional<std::uint64_t> errhandler;
  std::optional<std::vector<std::uint64_t>> requests, windows, files;
};

enum class RequestHandleKind : std::uint8_t {
  unknown,
  null,
  send,
  receive,
  collective,
  generalized,
  rma,
  io,
  comm
};
enum class RequestHandleState : std::uint8_t { unknown, inactive, active, complete, freed };

/// Special values of a request's peer and tag, numbered as MPIDBG_ANY_SOURCE and its like.
inline constexpr int any_source = -1, null_process = -2, any_tag = -1;

struct RequestHandle {
  std::uint64_t handle = 0;
  std::optional<std::int64_t> fortran;
  bool predefined = false;
  RequestHandleKind kind = RequestHandleKind::unknown;
  RequestHandleState state = RequestHandleState::unknown;
  std::optional<bool> persistent;
  std::optional<std::uint64_t> comm; ///< C handle
  std::optional<int> peer, tag;      ///< may be any_source, null_process, any_tag
  std::optional<std::uint64_t> count, bytes, buffer;
  std::string datatype;
  std::optional<int> actual_source, actual_tag;
  std::optional<std::uint64_t> actual_bytes;
  std::optional<int> error;
  std::optional<bool> cancelled;
  std::string call;
  SharedSite site; ///< null: not known
};

struct ErrhandlerHandle {
  std::uint64_t handle = 0;
  std::optional<std::int64_t> fortran;
  bool predefined = false;
  std::string name;
  bool for_communicators = false, for_files = false, for_windows = false;
  std::optional<bool> c_callback; ///< false: Fortran
  std::optional<bool> freed;
  std::optional<std::uint64_t> callback; ///< address of the program's function
  std::optional<std::vector<std::uint64_t>> attached_to;
};

struct StatusHandle {
  std::uint64_t address = 0;
  bool ignore = false; ///< MPI_STATUS_IGNORE
  std::optional<int> source, tag, error;
  std::optional<bool> cancelled;
  std::optional<std::uint64_t> bytes;
};

/// A handle of the question that has no answer, and the reason.
struct HandleRefusal {
  HandleQuestion::Handle handle;
  std::string reason;
};

struct ProcessHandles {
  bool listed = false; ///< all were asked for, and not some by their values
  std::string dll, dll_version;
  std::vector<CommunicatorHandle> communicators;
  std::vector<RequestHandle> requests;
  std::vector<ErrhandlerHandle> errhandlers;
  std::vector<StatusHandle> statuses;
  std::vector<HandleRefusal> refused;
  /// Kinds that were asked for as lists, and that the DLL cannot list, or not wholly.
  std::vector<HandleKind> unlisted, incomplete;
};

} // namespace mqbridge
