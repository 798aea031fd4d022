#pragma once

#include "host/analysis/call_waits.h"
#include "host/analysis/job_waits.h"
#include "host/dump/values/analysis.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mqbridge {

/// The name of a process in the verdict: its rank, and its job if there are several.
std::string name_of_process(const JobPicture& picture, const Partner& partner);
std::string name_of_process(const JobPicture& picture, std::size_t process);

/// "C2"; `C2 "halo"` where the program has named it.
std::string communicator_words(const Communicator& communicator);

/// "from 3 tag 17 on C1"; "to 4 tag 6 on C2".
std::string operation_words(const JobPicture& picture, std::size_t process, const OperationAt& at);

/// "thread `logger`"; its number where it has no name of its own.
std::string name_of_thread(const Process& process, const BlockedCall& call);

/// The name of a thread of ProcessWaits::idle; "the polling loop" where it sleeps between its own
/// calls.
std::string name_of_idle(const JobWaits& waits, std::size_t process, const BlockedCall& thread);

/// "rank 3"; "ranks 0-2".
std::string ranks_words(const std::vector<std::int64_t>& ranks);
/// " of job 1:678035457" if there are several jobs.
std::string job_words(const JobPicture& picture, std::size_t job);
/// "rank 3 of job A, ranks 0-2 of job B"; by the index of the job.
std::string ranks_words(const JobPicture& picture,
                        const std::map<std::size_t, std::vector<std::int64_t>>& by_job);

/// Wait::place; empty: not known.
std::string place_words(const BlockedCall& call);

/// Where a thread is: "MPI_Recv at halo.c:212"; outside of MPI "compute at solver.c:88, in system
/// call read". Empty: not known.
std::string whereabouts(const BlockedCall& call);

/// What a thread of the process waits for, in the form of the document.
Wait wait_of(const JobWaits& waits, std::size_t process, const CallWait& call);

} // namespace mqbridge
