#ifndef MQBRIDGE_DLL_RECORDER_MPI_AGREED_H
#define MQBRIDGE_DLL_RECORDER_MPI_AGREED_H

#include <stdint.h>

/* How many communicators this process has made from the same parts before, for ids of those that
 * are made by some members of a parent only: each member of such a group makes the same ones in the
 * same order. 0: too many parts to remember; then nothing can be agreed on. */
int mqr_times_made(uint64_t parts, uint32_t* times);

#endif
