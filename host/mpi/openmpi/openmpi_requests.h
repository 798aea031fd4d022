#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <vector>

namespace mqbridge::openmpi {

/// Corrects operations from the requests themselves (Operation::request is set), which are read in
/// two pipelined steps. Open MPI's DLL makes these errors: it reads one byte of the pointer
/// req_complete; for a matched receive it gives a length that is not the request's; it looks a peer
/// of an intercommunicator up in the wrong group; it calls a request that is not started complete,
/// and the request of a probe of unknown type. Sets Operation::kind and delivery. Repairs "status",
/// "length", "global_rank". Fields that the types do not have change nothing; the status of a
/// request that cannot be read becomes `unknown`. Errors: those of Memory and of find_type.
Result<void> correct_from_requests(const std::vector<Operation*>& operations,
                                   const AddressSpace& space);

} // namespace mqbridge::openmpi
