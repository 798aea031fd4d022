#ifndef MQBRIDGE_DLL_RECORDER_RETURNED_H
#define MQBRIDGE_DLL_RECORDER_RETURNED_H

#include "dll/recorder/layout.h"

/* Into the ring of sends that have returned, which comes with the first one. The generation is odd.
 * 0: no memory. */
int mqr_returned_add(struct mqr_communicator* communicator, const struct mqr_operation* send);

#endif
