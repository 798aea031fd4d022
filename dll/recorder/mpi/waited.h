#ifndef MQBRIDGE_DLL_RECORDER_MPI_WAITED_H
#define MQBRIDGE_DLL_RECORDER_MPI_WAITED_H

/* The requests that a call of MPI_Wait, MPI_Test and their like gives to MPI. */

#include "dll/recorder/handles.h"
#include "dll/recorder/mpi/message.h"

enum { MQR_FEW = 16 }; /* as many need no memory from the heap */

/* The recorder's entries for the requests. Each request has an entry in one of the first three
 * arrays, or in none. */
struct mqr_waited_part {
  struct mqr_recorded_operation* operations[MQR_FEW];
  struct mqr_recorded_collective* collectives[MQR_FEW];
  struct mqr_recorded_unqueued* unqueued[MQR_FEW];
  MPI_Request handles[MQR_FEW];
  MPI_Status statuses[MQR_FEW];
};
struct mqr_waited {
  int count;
  struct mqr_recorded_operation** operations;
  struct mqr_recorded_collective** collectives;
  struct mqr_recorded_unqueued** unqueued;
  MPI_Request* handles;
  MPI_Status* statuses; /* for a program that ignores the statuses */
  uint32_t unseen;      /* requests that are in no list, and may be incomplete */
  uint32_t seen;
  void* memory;
  struct mqr_waited_part few;
};

/* Notes the requests before MPI changes them. 0: no memory; then nothing is noted. */
int mqr_waited_open(struct mqr_waited* waited, int count, const MPI_Request requests[]);
/* The call waits for `needed` of them, or for all if there are fewer. */
void mqr_waited_wait(const struct mqr_waited* waited, uint32_t needed);
/* MPI has returned `result` for the i-th request, and has made `request` of its handle. */
void mqr_waited_settle(struct mqr_waited* waited, int i, MPI_Request request, int result,
                       const MPI_Status* status);
/* MPI has said nothing about the other requests. */
void mqr_waited_close(struct mqr_waited* waited);

#endif
