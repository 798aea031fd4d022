// The collective calls of MPI 3.1, and those that make communicators.

#include "tests/inferiors/call_log.h"
#include "tests/inferiors/mpi_calls.h"
#include "tests/inferiors/posting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16, bridge_tag = 77, neighbors = 2 };

/// What the calls of one communicator take: buffers for all ranks, and where each rank's part is.
struct parts {
  MPI_Comm comm;
  int size; ///< of the side that the parts come from
  int count;
  int root; ///< as this rank names it
  char* in;
  char* out;
  int counts[most_ranks];
  int places[most_ranks];
  MPI_Datatype types[most_ranks];
};

static int root_of(MPI_Comm comm) {
  if (!is_intercommunicator(comm))
    return 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank % 2)
    return 0;
  return rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

static struct parts parts_of(const struct mpi_call* call) {
  struct parts p = {.comm = call->comm, .count = (int)call->bytes, .root = root_of(call->comm)};
  if (is_intercommunicator(call->comm))
    MPI_Comm_remote_size(call->comm, &p.size);
  else
    MPI_Comm_size(call->comm, &p.size);
  p.in = posting_buffer((call->bytes + 1) * most_ranks);
  p.out = posting_buffer((call->bytes + 1) * most_ranks);
  for (int i = 0; i < most_ranks; ++i) {
    p.counts[i] = p.count;
    p.places[i] = i * p.count;
    p.types[i] = MPI_BYTE;
  }
  return p;
}

static void barrier(struct parts* p) {
  SAID(MPI_Barrier(p->comm));
}

static void bcast(struct parts* p) {
  SAID(MPI_Bcast(p->in, p->count, MPI_BYTE, p->root, p->comm));
}

static void gather(struct parts* p) {
  SAID(MPI_Gather(p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, p->root, p->comm));
}

static void gatherv(struct parts* p) {
  SAID(MPI_Gatherv(p->in, p->count, MPI_BYTE, p->out, p->counts, p->places, MPI_BYTE, p->root,
                   p->comm));
}

static void scatter(struct parts* p) {
  SAID(MPI_Scatter(p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, p->root, p->comm));
}

static void scatterv(struct parts* p) {
  SAID(MPI_Scatterv(p->in, p->counts, p->places, MPI_BYTE, p->out, p->count, MPI_BYTE, p->root,
                    p->comm));
}

static void allgather(struct parts* p) {
  SAID(MPI_Allgather(p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, p->comm));
}

static void allgatherv(struct parts* p) {
  SAID(MPI_Allgatherv(p->in, p->count, MPI_BYTE, p->out, p->counts, p->places, MPI_BYTE, p->comm));
}

static void alltoall(struct parts* p) {
  SAID(MPI_Alltoall(p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, p->comm));
}

static void alltoallv(struct parts* p) {
  SAID(MPI_Alltoallv(p->in, p->counts, p->places, MPI_BYTE, p->out, p->counts, p->places, MPI_BYTE,
                     p->comm));
}

static void alltoallw(struct parts* p) {
  SAID(MPI_Alltoallw(p->in, p->counts, p->places, p->types, p->out, p->counts, p->places, p->types,
                     p->comm));
}

static void reduce(struct parts* p) {
  SAID(MPI_Reduce(p->in, p->out, p->count, MPI_BYTE, MPI_BOR, p->root, p->comm));
}

static void allreduce(struct parts* p) {
  SAID(MPI_Allreduce(p->in, p->out, p->count, MPI_BYTE, MPI_BOR, p->comm));
}

static void reduce_scatter(struct parts* p) {
  SAID(MPI_Reduce_scatter(p->in, p->out, p->counts, MPI_BYTE, MPI_BOR, p->comm));
}

static void reduce_scatter_block(struct parts* p) {
  SAID(MPI_Reduce_scatter_block(p->in, p->out, p->count, MPI_BYTE, MPI_BOR, p->comm));
}

static void scan(struct parts* p) {
  SAID(MPI_Scan(p->in, p->out, p->count, MPI_BYTE, MPI_BOR, p->comm));
}

static void exscan(struct parts* p) {
  SAID(MPI_Exscan(p->in, p->out, p->count, MPI_BYTE, MPI_BOR, p->comm));
}

// `comm` is a ring: mpi_calls.
static void neighbor_allgather(struct parts* p) {
  SAID(MPI_Neighbor_allgather(p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, p->comm));
}

static void neighbor_allgatherv(struct parts* p) {
  SAID(MPI_Neighbor_allgatherv(p->in, p->count, MPI_BYTE, p->out, p->counts, p->places, MPI_BYTE,
                               p->comm));
}

static void neighbor_alltoall(struct parts* p) {
  SAID(MPI_Neighbor_alltoall(p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, p->comm));
}

static void neighbor_alltoallv(struct parts* p) {
  SAID(MPI_Neighbor_alltoallv(p->in, p->counts, p->places, MPI_BYTE, p->out, p->counts, p->places,
                              MPI_BYTE, p->comm));
}

static void neighbor_alltoallw(struct parts* p) {
  const MPI_Aint places[neighbors] = {0, p->count};
  SAID(MPI_Neighbor_alltoallw(p->in, p->counts, places, p->types, p->out, p->counts, places,
                              p->types, p->comm));
}

static void comm_dup(struct parts* p) {
  MPI_Comm made = MPI_COMM_NULL;
  SAID(MPI_Comm_dup(p->comm, &made));
  MPI_Comm_free(&made);
}

static void comm_split(struct parts* p) {
  MPI_Comm made = MPI_COMM_NULL;
  SAID(MPI_Comm_split(p->comm, 0, 0, &made));
  MPI_Comm_free(&made);
}

static void comm_create(struct parts* p) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(p->comm, &group);
  SAID(MPI_Comm_create(p->comm, group, &made));
  MPI_Group_free(&group);
  MPI_Comm_free(&made);
}

static void intercomm_create(struct parts* p) {
  MPI_Comm made = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = local_rank_of(p->comm, rank % 2 ? 0 : 1);
  SAID(MPI_Intercomm_create(side_communicator(), 0, p->comm, other, bridge_tag, &made));
  MPI_Comm_free(&made);
}

static void intercomm_merge(struct parts* p) {
  MPI_Comm made = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  SAID(MPI_Intercomm_merge(p->comm, rank % 2, &made));
  MPI_Comm_free(&made);
}

static const struct {
  const char* name;
  void (*call)(struct parts* p);
} calls[] = {
    {"barrier", barrier},
    {"bcast", bcast},
    {"gather", gather},
    {"gatherv", gatherv},
    {"scatter", scatter},
    {"scatterv", scatterv},
    {"allgather", allgather},
    {"allgatherv", allgatherv},
    {"alltoall", alltoall},
    {"alltoallv", alltoallv},
    {"alltoallw", alltoallw},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter_block},
    {"scan", scan},
    {"exscan", exscan},
    {"neighbor_allgather", neighbor_allgather},
    {"neighbor_allgatherv", neighbor_allgatherv},
    {"neighbor_alltoall", neighbor_alltoall},
    {"neighbor_alltoallv", neighbor_alltoallv},
    {"neighbor_alltoallw", neighbor_alltoallw},
    {"comm_dup", comm_dup},
    {"comm_split", comm_split},
    {"comm_create", comm_create},
    {"intercomm_create", intercomm_create},
    {"intercomm_merge", intercomm_merge},
};

int is_collective_call(const char* name) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i)
    if (strcmp(calls[i].name, name) == 0)
      return 1;
  return 0;
}

void collective_call(const struct mpi_call* call) {
  struct parts p = parts_of(call);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i)
    if (strcmp(calls[i].name, call->name) == 0)
      calls[i].call(&p);
  free(p.in);
  free(p.out);
}
