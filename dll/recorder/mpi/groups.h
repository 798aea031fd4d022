#ifndef MQBRIDGE_DLL_RECORDER_MPI_GROUPS_H
#define MQBRIDGE_DLL_RECORDER_MPI_GROUPS_H

#include "dll/recorder/mpi/library.h"
#include "dll/recorder/mpi/sides.h"

/* Ranks in MPI_COMM_WORLD by rank in a group: MQR_WORLD_RANK_UNKNOWN outside of it. `world` is the
 * caller's to free. */
struct mqr_ranks {
  int32_t* world;
  int32_t size;
};

/* 0: MPI refused, or there is no memory. */
int mqr_ranks_of(MPI_Group group, struct mqr_ranks* ranks);
int mqr_local_ranks(MPI_Comm comm, struct mqr_ranks* ranks);
int mqr_remote_ranks(MPI_Comm comm, struct mqr_ranks* ranks);

/* A number for the first member of a communicator's group, or of both groups of one that has two:
 * the same on each member. */
uint64_t mqr_first_members(MPI_Comm comm);

/* The same for a communicator made from `parent`, whose members are of several MPI_COMM_WORLDs: it
 * uses their ranks in the parent, and keeps the two groups apart. */
struct mqr_firsts mqr_first_members_in(MPI_Comm parent, MPI_Comm comm);
/* A number for all members of a group, in their order, by their ranks in the parent. 0: unknown. */
uint64_t mqr_members_in(MPI_Comm parent, MPI_Comm comm);

/* Counts how many communicators this process has made from the same parts before. Some
 * communicators are made by some members of a parent only; their ids use this count, since each
 * member of such a group makes the same ones in the same order. 0: too many parts to remember; then
 * nothing can be agreed on. */
int mqr_times_made(uint64_t parts, uint32_t* times);

/* The group of MPI_COMM_WORLD, kept from MPI_Init to MPI_Finalize. */
int mqr_open_world_group(void);
void mqr_close_world_group(void);

#endif
