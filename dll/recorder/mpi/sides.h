#ifndef MQBRIDGE_DLL_RECORDER_MPI_SIDES_H
#define MQBRIDGE_DLL_RECORDER_MPI_SIDES_H

/* Numbers for a joint's communicators on which both sides agree. Knows nothing of MPI. */

#include <stdint.h>

/* The side of a joint on which the local group is. The call tells: MPI_Comm_spawn and
 * MPI_Comm_accept are on the first side. MQR_EITHER_SIDE: it does not tell. */
enum mqr_side { MQR_EITHER_SIDE, MQR_FIRST_SIDE, MQR_SECOND_SIDE };

/* The first members of a communicator's two groups. Each has its rank in that group of the parent
 * to which it belongs. */
struct mqr_firsts {
  uint32_t local;
  uint32_t remote; /* of an intracommunicator: the same as `local` */
};

/* Makes a number of `firsts`, which tells the parts of one MPI_Comm_split apart. The other side
 * gets the same number, although local and remote are swapped there. Returns 0 if that is
 * impossible: if nobody knows which side is the first, one side sees part (0, 1) as the other side
 * sees part (1, 0). */
static inline int mqr_number_of_firsts(enum mqr_side side, struct mqr_firsts firsts,
                                       uint64_t* number) {
  const int swapped = side == MQR_SECOND_SIDE;
  const uint64_t first = swapped ? firsts.remote : firsts.local;
  *number = first << 32 | (swapped ? firsts.local : firsts.remote);
  return side != MQR_EITHER_SIDE || firsts.local == firsts.remote;
}

#endif
