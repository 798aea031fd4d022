#pragma once

#include "host/analysis/job_picture.h"
#include "host/analysis/request_waits.h"
#include "host/analysis/threads_of_process.h"
#include "host/analysis/wait_graph.h"
#include "host/mpi/mpi_call.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// What one thread in a call of MPI waits for.
struct CallWait {
  const BlockedCall* call = nullptr;   ///< nullptr: only pending operations show that it waits
  const BlockedCall* asleep = nullptr; ///< where it sleeps between calls; then `call` is nullptr
  WaitNode node = WaitGraph::unknown;
  WaitGraph::Mode mode = WaitGraph::Mode::all;
  std::vector<OperationAt> operations;
  std::vector<const CollectiveUnderWay*> collectives;
  /// For a collective whose inside is not visible, and for MPI_Finalize: the members that have not
  /// come.
  PartnerList members;
  /// It waits for one of these (of an exchange: for one or several), and nobody knows for which.
  bool guessed = false;
  bool unseen = false; ///< it waits for something that is not in the document, too
  bool by_arguments =
      false;               ///< the call's arguments alone tell it; `members` are all whom it needs
  bool by_anybody = false; ///< any process may end it: where all others go on, it goes on
  std::string unknown; ///< why its waits are not known, or not all of them; empty: they are known
};

/// Works out what calls wait for. Refers to all of its arguments.
class CallWaits {
public:
  CallWaits(const JobPicture& picture, RequestWaits& requests, WaitGraph& graph)
      : picture_(picture), requests_(requests), graph_(graph) {}

  /// The waits of those threads of a process that are in calls, in the threads' order. If the calls
  /// are not known, the waits that its operations show.
  std::vector<CallWait> of(std::size_t process, const std::vector<ThreadView>& threads);

private:
  class OfProcess;

  const JobPicture& picture_;
  RequestWaits& requests_;
  WaitGraph& graph_;
  /// Absent processes that many calls wait for: of a collective, or of a job that leaves MPI.
  struct Absent {
    WaitNode node = WaitGraph::unknown;
    PartnerList members;
  };
  Absent wait_for(std::vector<Partner> members);

  /// All others of MPI_COMM_WORLD, or those that are not in `call` there.
  const Absent& others_in_world(std::size_t job, const std::string& call, WaitGraph::Mode mode);

  std::map<std::size_t, Absent> leaving_;                          ///< by job
  std::map<std::pair<std::size_t, std::string>, Absent> in_world_; ///< by job and call
};

} // namespace mqbridge
