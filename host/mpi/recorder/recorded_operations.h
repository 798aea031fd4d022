#pragma once

#include "host/mpi/recorder/record.h"
#include "host/mpi/recorder/recorded_threads.h"
#include "host/mqs/queues.h"

#include <vector>

namespace mqbridge::recorder {

/// Completes operations by facts for which the interface has no words. The debug DLL
/// (dll/queues/operations.c) writes some of them as lines: the function that posted an operation,
/// its count and datatype, and that a send has returned. The last line is the address of the
/// operation's node, from which the others are read: kind, status (the DLL calls a request complete
/// that is not started), request, number, call site, and the call that waits for it. If the node
/// cannot be read, the operation stays as it is. Errors: those of Memory.
Result<void> complete_operations(std::vector<Communicator>& communicators, const Root& root,
                                 const Waits& waits, const AddressSpace& space);

/// From the lines alone.
void take_lines(std::vector<Communicator>& communicators);

} // namespace mqbridge::recorder
