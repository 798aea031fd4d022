#pragma once

#include "host/mqs/wire.h"

#include <cstddef>
#include <cstdint>

/// A worker's items about handles, in its batches. The lists and attributes of a handle come before
/// the handle itself: so a handle whose lists are missing is never taken for a whole one. Fields
/// are widened; dll/mpidbg_interface.h explains the fields of the same names.
namespace mqbridge::wire {

/// Elements are 64 bits wide, signed.
enum class HandleList : std::uint8_t {
  local_group, ///< ranks in MPI_COMM_WORLD
  remote_group,
  dims,
  periods,
  index,
  edges,
  sources,
  source_weights,
  destinations,
  destination_weights,
  requests, ///< handles
  windows,
  files,
  attached,   ///< handles to which an error handler is attached
  attributes, ///< without elements: says that the attributes before it are all that there are
};
inline constexpr std::size_t handle_lists = 15;
/// How much of a kind was listed.
enum class ListEnd : std::uint8_t { complete, incomplete, unlisted };

inline constexpr std::size_t max_numbers_chunk = 4096; ///< elements of one item
inline constexpr std::size_t max_attributes = 65'536;  ///< of one communicator
inline constexpr std::int64_t max_listed_requests = 10'000'000;
inline constexpr std::int64_t max_listed_others = 65'536;

struct CommFields {
  std::uint64_t handle, flags, capabilities;
  std::int64_t rank, size;
  std::int64_t fortran; ///< of version 1
  std::uint64_t described, known;
  std::int64_t described_fortran;
  std::uint64_t errhandler, context;
  std::uint64_t is_owner; ///< 1: not asked for itself, but the communicator of a request that was
};

struct RequestFields {
  std::uint64_t handle, flags;
  std::int64_t fortran; ///< of version 1
  std::uint64_t described;
};

struct ErrhandlerFields {
  std::uint64_t handle, flags, capabilities;
  std::int64_t fortran;
  std::uint64_t extended; ///< the DLL has part 2: `fortran` is known, even if it is 2 or 4
  std::uint64_t callback;
};

struct StatusFields {
  std::uint64_t address, flags, described;
};

} // namespace mqbridge::wire
