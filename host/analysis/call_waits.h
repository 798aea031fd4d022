#pragma once

#include "host/analysis/job_picture.h"
#include "host/analysis/mpi_call.h"
#include "host/analysis/partner_list.h"
#include "host/analysis/request_waits.h"
#include "host/analysis/threads_of_process.h"
#include "host/analysis/wait_graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// What one thread in a call of MPI waits for.
struct CallWait {
  const BlockedCall* call = nullptr; ///< nullptr: only its operations say that it waits
  WaitNode node = WaitGraph::unknown;
  WaitGraph::Mode mode = WaitGraph::Mode::all;
  std::vector<OperationAt> operations;
  std::vector<const CollectiveUnderWay*> collectives;
  /// Of a collective whose inside is not visible, or of MPI_Finalize: those that have not come.
  PartnerList members;
  bool guessed = false; ///< one of what stands here, and which one is not known
  bool unseen = false;  ///< something that is not in the document, too
  std::string unknown;  ///< why nothing, or not all, is known of it; empty: it is
};

/// From calls to what they wait for. Refers to all that it is made of.
class CallWaits {
public:
  CallWaits(const JobPicture& picture, RequestWaits& requests, WaitGraph& graph)
      : picture_(picture), requests_(requests), graph_(graph) {}

  /// Of the threads of one process that are in calls, in their order; of a process whose calls are
  /// not known, what its operations say.
  std::vector<CallWait> of(std::size_t process, const std::vector<ThreadView>& threads);

private:
  class OfProcess;

  const JobPicture& picture_;
  RequestWaits& requests_;
  WaitGraph& graph_;
  /// Many wait for the same ones: members of a collective, or of all that leave MPI.
  struct Absent {
    WaitNode node = WaitGraph::unknown;
    PartnerList members;
  };
  Absent wait_for(std::vector<Partner> members);

  std::map<std::size_t, Absent> leaving_; ///< by job
};

} // namespace mqbridge
