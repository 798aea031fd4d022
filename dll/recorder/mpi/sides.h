#ifndef MQBRIDGE_DLL_RECORDER_MPI_SIDES_H
#define MQBRIDGE_DLL_RECORDER_MPI_SIDES_H

/* What both sides of a joint call the same communicator by. Knows nothing of MPI. */

#include <stdint.h>

/* Which of the two sides of a joint the members of the local group are, where both know that by
 * what they have called: MPI_Comm_spawn and MPI_Comm_accept are the first. */
enum mqr_side { MQR_EITHER_SIDE, MQR_FIRST_SIDE, MQR_SECOND_SIDE };

/* The first members of a communicator's two groups, by their ranks in the group of the parent that
 * they are in. */
struct mqr_firsts {
  uint32_t local;
  uint32_t remote; /* of an intracommunicator as `local` */
};

/* A number for them that the other side has, too, where the two are swapped. It tells the parts of
 * one MPI_Comm_split apart. 0: there is none. Where the sides do not know which is the first,
 * (0, 1) and (1, 0) are two parts of which each looks to one side as the other one does to the
 * other side. */
static inline int mqr_number_of_firsts(enum mqr_side side, struct mqr_firsts firsts,
                                       uint64_t* number) {
  const int swapped = side == MQR_SECOND_SIDE;
  const uint64_t first = swapped ? firsts.remote : firsts.local;
  *number = first << 32 | (swapped ? firsts.local : firsts.remote);
  return side != MQR_EITHER_SIDE || firsts.local == firsts.remote;
}

#endif
