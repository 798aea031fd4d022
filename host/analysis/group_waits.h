#pragma once

#include "host/analysis/call_waits.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// Everything that one call of a recorded process waits for.
struct WaitGroup {
  std::vector<OperationAt> operations;
  std::vector<const CollectiveUnderWay*> collectives;
  bool all = true;    ///< all of them must complete; false: any of them is enough
  bool more = false;  ///< it waits for something that is in no list, too
  bool still = false; ///< the call stood there in the look before: it is not about to return
  bool once = false;  ///< there was no look before
};

/// Fills in the wait for a group, without guessing.
///
/// For some members it is not visible whether they are complete: the MPI may have taken the message
/// of a standard send that has met no receive. Then a call that stands still tells more. If any
/// complete member would end it, no member is complete. If it needs all members, and none is known
/// to wait, at least one of the members that may wait does wait.
void wait_for_recorded(CallWait& wait, const WaitGroup& group, std::size_t process,
                       RequestWaits& requests, WaitGraph& graph);

} // namespace mqbridge
