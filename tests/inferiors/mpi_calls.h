#pragma once

#include <mpi.h>

/// One call of MPI that some ranks of a communicator are inside of and others not, as mpi_calls
/// makes it.
struct mpi_call {
  const char* name;
  MPI_Comm comm;
  long bytes;          ///< that each rank contributes, or of one message
  int threads;         ///< several may call MPI
  int inside;          ///< this rank is one of those that call at once
  const int* insiders; ///< world ranks
  int insider_count;
  const int* outsiders; ///< the others
  int outsider_count;
  const char* directory; ///< of this step: where the log goes
};

/// Whether `name` is a collective call, or one that makes communicators.
int is_collective_call(const char* name);

/// Makes the call, and frees what it made. Root: rank 0, in an intercommunicator that of the even
/// side.
void collective_call(const struct mpi_call* call);

/// Before any rank is inside: what has to be there. All ranks of the communicator.
void message_prepare(const struct mpi_call* call);
/// Says in the oracle, and in DIRECTORY/waited.RANK, what the call will wait for, and makes it.
/// Ranks inside. `ready` is told once all is posted.
void message_call(const struct mpi_call* call, void (*ready)(const struct mpi_call* call));
/// The other half, by the ranks that were outside, and what is common to all afterwards.
void message_release(const struct mpi_call* call);

/// Whether `name` is a call of another kind: a loop of tests, a nonblocking collective that is
/// waited for, a window's, a file's. On an intracommunicator.
int is_other_call(const char* name);
/// Before any rank is inside: what has to be there. All ranks of the communicator.
void other_prepare(const struct mpi_call* call);
/// Makes the call.
void other_call(const struct mpi_call* call);
/// Frees what was made for it. All ranks.
void other_finish(void);

/// The rank in `comm` (its remote group, if it has one) of a rank of MPI_COMM_WORLD.
int local_rank_of(MPI_Comm comm, int world_rank);
int is_intercommunicator(MPI_Comm comm);

/// The even or the odd ranks of MPI_COMM_WORLD: this rank's.
MPI_Comm side_communicator(void);
/// Says in the oracle which communicators there are.
void log_communicators(void);
