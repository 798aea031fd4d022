#ifndef MQBRIDGE_DLL_RECORDER_MPI_JOINT_H
#define MQBRIDGE_DLL_RECORDER_MPI_JOINT_H

/* Calls by which processes of different MPI_COMM_WORLDs meet (struct mqr_joint). */

#include "dll/recorder/mpi/communicator.h"

/* Such a call, which has returned. */
struct mqr_meeting {
  enum mqr_function function;
  const struct mqr_comm* comm; /* it was a collective on this one; NULL: not known */
  uint32_t sequence;           /* among the collectives of `comm` */
  uint64_t began;              /* mqr_now() */
  const char* mark;            /* struct mqr_joint */
};

/* Takes in the communicator that the call made. If all of its members are of this MPI_COMM_WORLD,
 * it does not count as a joint: its members agree on an id by who they are, and by `tag`. */
void mqr_meet(const struct mqr_meeting* meeting, int tag, MPI_Comm made);

/* MPI_COMM_PARENT, which MPI_Init has made, if this process was spawned. */
void mqr_meet_parents(uint64_t began);

/* CLOCK_REALTIME, in nanoseconds: both sides may be on different computers. */
uint64_t mqr_now(void);

/* Marks: each writes a text of at most MQR_MARK_SIZE bytes, terminated. */
/* Writes what the spawned processes know about the process of rank `root` in `comm`, which has
 * spawned them. */
void mqr_mark_spawn(const struct mqr_comm* comm, int root, char* mark);
#endif
