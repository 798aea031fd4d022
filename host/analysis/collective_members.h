#pragma once

#include "host/analysis/job_picture.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {

/// Whom a call of a collective waits for, by its number on its communicator: members that have not
/// entered it. nullopt: the communicator, the number or the root are not known, or what others have
/// done since. What goes on inside of the collective tells more, where it is visible.
std::optional<std::vector<Partner>>
members_waited_for(const JobPicture& picture, std::size_t process, const BlockedCall& call);

/// The communicator's key and the number of the collective that a call is in; nullopt: not known.
std::optional<std::pair<std::uint32_t, std::int64_t>>
meeting_of(const JobPicture& picture, std::size_t process, const BlockedCall& call);

/// All processes that MPI_Finalize of this job waits for: those of the job, and of all jobs that it
/// shares a communicator with, in any number of steps. One that is in no document stands for all
/// that are in none.
std::vector<Partner> connected_processes(const JobPicture& picture, std::size_t job);

} // namespace mqbridge
