#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge {

/// Where a process met processes of other jobs, as its recorder keeps it (struct mqr_joint of
/// dll/recorder/layout.h): a call that made a communicator with members of several MPI_COMM_WORLDs.
struct Joint {
  std::uint64_t id = 0;       ///< the same on the members of the local group that have one `base`
  std::uint64_t base = 0;     ///< the joint of the communicator on which the call was made, or 0
  std::uint64_t path = 0;     ///< the path of that communicator in that joint, or in this job
  std::uint64_t began = 0;    ///< us since 1970, by the clock of its computer
  std::uint64_t ended = 0;    ///< the same
  std::uint32_t sequence = 0; ///< BlockedCall::sequence of the call
  std::string call;           ///< "MPI_Comm_spawn"; of a process that was spawned "MPI_Init"
  std::int64_t size = 0;      ///< of the local group
  std::int64_t remote_size = 0;
  std::string mark; ///< both sides have the same text, or at least one has none (empty)

  bool operator==(const Joint&) const = default;
};

/// A communicator that comes from a joint, as one of its members knows it. Groups are lists of
/// ranks in the member's own MPI_COMM_WORLD by local rank; -1 stands for members of another one.
struct Joined {
  std::uint64_t joint = 0; ///< Joint::id
  std::uint64_t path = 0;  ///< among the communicators of that joint; the same on both sides
  std::vector<std::int64_t> group;
  std::vector<std::int64_t> remote_group; ///< empty: no intercommunicator

  bool operator==(const Joined&) const = default;
};

} // namespace mqbridge
