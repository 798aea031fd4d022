#ifndef MQBRIDGE_DLL_RECORDER_MPI_COLLECTIVE_H
#define MQBRIDGE_DLL_RECORDER_MPI_COLLECTIVE_H

/* Notes calls that all members of a communicator make in the same order. */

#include "dll/recorder/mpi/message.h"

struct mqr_entered {
  enum mqr_function function;
  const struct mqr_comm* comm; /* NULL: not known */
  uint32_t sequence;           /* among the collectives of `comm` */
  int32_t root;                /* struct mqr_thread */
};

/* The call is the next collective on the communicator. `root` is the layout's. */
struct mqr_entered mqr_enter_collective(const struct mqr_call* call, enum mqr_function function,
                                        MPI_Comm handle, int32_t root);
/* The same on a communicator that may be MQR_INTERNAL; NULL: it is not known. */
struct mqr_entered mqr_enter_collective_on(const struct mqr_call* call, enum mqr_function function,
                                           const struct mqr_comm* comm, int32_t root);
/* The collective has returned. If MPI has refused it, it does not count: no other process learns of
 * it. */
void mqr_leave_collective(const struct mqr_entered* entered, int result);
/* The program's root in the form of the layout. */
int32_t mqr_root_of(int root);
/* A nonblocking collective has returned. */
void mqr_collective_posted(const struct mqr_call* call, const struct mqr_entered* entered,
                           int result, const MPI_Request* request);

#endif
