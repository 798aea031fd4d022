#pragma once

#include "host/mqs/wire.h"

#include <cstddef>
#include <cstdint>

/// What a worker says of handles: items of its batches. Lists and attributes come before the handle
/// that they belong to, so that one without its lists is never taken for whole. Fields are widened,
/// and mean what dll/mpidbg_interface.h says of those of the same name.
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
  attached,   ///< that an error handler is attached to
  attributes, ///< without elements: those that come, and no others, are there
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
  std::uint64_t is_owner; ///< of a request that was asked for: it answers nothing itself
};

struct RequestFields {
  std::uint64_t handle, flags;
  std::int64_t fortran; ///< of version 1
  std::uint64_t described;
};

struct ErrhandlerFields {
  std::uint64_t handle, flags, capabilities;
  std::int64_t fortran;
  std::uint64_t extended; ///< the DLL has part 2: fortran is known, whatever it is
  std::uint64_t callback;
};

struct StatusFields {
  std::uint64_t address, flags, described;
};

} // namespace mqbridge::wire
