#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace mqbridge::mpich {

/// MPI_ANY_SOURCE is -2 and MPI_ANY_TAG -1 (mpi.h): the lists hold nothing else that is negative.
inline constexpr bool is_wildcard(std::int64_t rank_or_tag) {
  return rank_or_tag < 0;
}

/// A list of pending operations in the process. Up to 4.0 receives are chained by their requests,
/// and only sends have elements of their own; from 4.1 on all three kinds have elements.
struct ListLayout {
  std::string_view head;         ///< symbol: a pointer to the first element
  bool head_is_indirect = false; ///< the symbol holds the address of that pointer
  Field next, context, tag, rank;
  Field
      request; ///< the request's address in an element of its own; else the element is the request

  explicit operator bool() const { return next && context && tag && rank; }
  std::size_t element_size() const;
};

/// Where fields are in this build of MPICH, as far as its debug information tells. A library built
/// only with --enable-debuginfo has types from the one file src/mpi/debugger/dbginit.c. Each group
/// is headed by the name of its type, and of the type's file below src/.
struct Layout {
  /// MPIR_Comm, include/mpir_comm.h; the last two are of device ch3, mpid/ch3/include/mpidpre.h
  struct Communicator {
    Field context, receive_context, rank, local_size, remote_size, kind;
    Field local_communicator, node, node_roots; ///< made by MPICH for itself
    Field node_ranks, root_ranks;               ///< by rank, the ranks in the last two
    Field name;                                 ///< its first byte
    Field members, local_members;               ///< MPIDI_VCRT of the peers, of the local side
  } communicator;
  /// MPIDI_VCRT, mpid/ch3/include/mpidimpl.h: connections by rank
  struct Members {
    Field size;
    std::uint64_t table = 0; ///< where it begins; 0: not known
  } members;
  /// MPIR_Request, include/mpir_request.h; from `buffer` on MPIDI_Request, mpidpre.h
  struct Request {
    Field completion; ///< pointer to the counter that is 0 when the operation is complete
    Field counter;    ///< at that address
    Field kind;
    Field own_counter;  ///< `completion` points there, or to the counter of real_request
    Field real_request; ///< in a persistent request: pointer to the request of its last start; 0:
                        ///< not started
    Field bytes_low, bytes_high; ///< of the status; the higher half has a flag in its lowest bit
    Field buffer, count, datatype, datatype_object, system_buffer;

    std::size_t size() const;
  } request;
  /// MPIR_Datatype, include/mpir_datatype.h
  struct Datatype {
    Field handle, size;
    std::uint64_t object_size = 0; ///< bytes; 0: not known
  } datatype;
  std::array<ListLayout, 3> lists; ///< by OpClass
};

/// Errors: dwarf.corrupt. Unknown fields are left out: each repair checks for the fields that it
/// needs.
Result<Layout> find_layout(const AddressSpace& space);

} // namespace mqbridge::mpich
