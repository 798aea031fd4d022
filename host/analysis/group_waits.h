#pragma once

#include "host/analysis/call_waits.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// All that one call of a recorded process waits for.
struct WaitGroup {
  std::vector<OperationAt> operations;
  std::vector<const CollectiveUnderWay*> collectives;
  bool all = true;    ///< must complete; else any of them is enough
  bool more = false;  ///< something that is in no list
  bool still = false; ///< the call stood there in the look before: it is not about to return
  bool once = false;  ///< there was no look before
};

/// Fills in the wait for a group, exactly.
///
/// Of some members it is not visible whether they are complete: of a standard send that has met no
/// receive, the MPI may have taken the message. Then a call that stands still tells more. If it
/// needs any of its members, none of them is complete. If it needs all, and none of them surely
/// waits, one of those that may wait does.
void wait_for_recorded(CallWait& wait, const WaitGroup& group, std::size_t process,
                       RequestWaits& requests, WaitGraph& graph);

} // namespace mqbridge
