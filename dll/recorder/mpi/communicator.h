#ifndef MQBRIDGE_DLL_RECORDER_MPI_COMMUNICATOR_H
#define MQBRIDGE_DLL_RECORDER_MPI_COMMUNICATOR_H

/* The recorder's communicators by the program's handles of them. Any thread. */

#include "dll/recorder/mpi/library.h"
#include "dll/recorder/mpi/sides.h"
#include "dll/recorder/recorder.h"

/* Valid until the program frees the communicator. */
struct mqr_comm {
  MPI_Comm handle;
  struct mqr_recorded_communicator* recorded;
  uint64_t id;
  uint32_t flags; /* enum mqr_communicator_flags: of those, MQR_ID_LOCAL */
  uint64_t joint; /* struct mqr_communicator */
  uint64_t path;
  enum mqr_side side; /* of the joint */
  int inter;
  int asked;   /* whether MPI has been asked for what its handle is (handles.h) */
  int sampled; /* mqr_variables_add_communicator() */
  struct mqr_comm* next;
};

/* The communicator of a handle. One whose making was not seen is taken in now. NULL: MPI_COMM_NULL,
 * no communicator, or there is no memory. */
struct mqr_comm* mqr_comm_of(MPI_Comm handle);

/* NULL: it is not known, or is being freed. */
struct mqr_comm* mqr_comm_find(MPI_Comm handle);
void mqr_comm_for_each(void (*visit)(struct mqr_comm* comm));

/* A new communicator, with the id that its members agree on, or with MQR_ID_LOCAL. Does nothing for
 * MPI_COMM_NULL. */
void mqr_comm_add(MPI_Comm handle, uint64_t id, uint32_t flags);
/* Adds a communicator with members of other MPI_COMM_WORLDs, which both sides of that joint know by
 * `path`. */
void mqr_comm_add_joined(MPI_Comm handle, uint64_t joint, uint64_t path, enum mqr_side side);
/* Adds a communicator that each member made in the same collective call, the `sequence`-th, on its
 * parent. */
void mqr_comm_derive(MPI_Comm handle, const struct mqr_comm* parent, uint32_t sequence);
/* Adds a communicator with the groups of its parent, which MPI is still making. */
void mqr_comm_add_twin(MPI_Comm handle, const struct mqr_comm* parent, uint32_t sequence);
/* A communicator for a window or a file that each member made in the same collective call on its
 * parent: MQR_INTERNAL, and by no handle. It goes with mqr_comm_freed(). NULL: there is no memory.
 */
struct mqr_comm* mqr_comm_make_internal(const struct mqr_comm* parent, uint32_t sequence,
                                        const char* name);
/* MPI_COMM_WORLD and MPI_COMM_SELF. */
void mqr_comm_add_predefined(void);

/* The handle is about to be freed: MPI may give it to another communicator before this thread
 * returns. NULL: it was not known. */
struct mqr_comm* mqr_comm_withdraw(MPI_Comm handle);
/* End of mqr_comm_withdraw(): the communicator was freed, or it was not. */
void mqr_comm_freed(struct mqr_comm* comm);
void mqr_comm_not_freed(struct mqr_comm* comm);

/* In a child of fork(), and after MPI_Finalize. */
void mqr_comm_forget_all(void);

/* Numbers that are the same wherever the parts are. */
uint64_t mqr_mix(uint64_t seed, uint64_t part);
/* Another number each time, for ids with MQR_ID_LOCAL. */
uint64_t mqr_local_id(void);

#endif
