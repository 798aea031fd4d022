// Deadlocks in which ranks are in different collectives, or not all of them are in one. Where more
// than two ranks could be in one, whom each of them waits for would be the algorithm's to say: a
// pair has but one answer.

#include "tests/inferiors/verdict.h"

#define WORLD MPI_COMM_WORLD

static int in[8];
static int out[8];

// Two calls that both ranks make, each in its own order.
static void order_of_collectives(const struct scene* s) {
  scene_ready(s);
  if (s->rank == 0) {
    MPI_Barrier(WORLD);
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, WORLD);
  } else {
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Barrier(WORLD);
  }
}

static void order_of_communicators(const struct scene* s) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(WORLD, &copy);
  scene_ready(s);
  MPI_Barrier(s->rank == 0 ? WORLD : copy);
  MPI_Barrier(s->rank == 0 ? copy : WORLD);
}

// Each pair of neighbours has a communicator; each rank is in the barrier with the one behind it.
static void ring_of_pairs(const struct scene* s) {
  MPI_Comm next = MPI_COMM_NULL;
  for (int i = 0; i < s->size; ++i) {
    const MPI_Comm pair = scene_pair(s, i, (i + 1) % s->size);
    if (i == s->rank)
      next = pair;
  }
  scene_ready(s);
  MPI_Barrier(next);
}

// Each takes the other one for the root.
static void roots_of_bcast(const struct scene* s) {
  scene_ready(s);
  MPI_Bcast(in, 1, MPI_INT, s->rank == 0 ? 1 : 0, WORLD);
}

static void roots_of_reduce(const struct scene* s) {
  scene_ready(s);
  MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, s->rank, WORLD);
}

// The root waits for a message of one of those that wait in the broadcast.
static void bcast_against_recv(const struct scene* s) {
  if (s->rank == 0) {
    recv_from(s, 1, usual_tag, WORLD);
  } else {
    scene_ready(s);
    MPI_Bcast(in, 1, MPI_INT, 0, WORLD);
  }
}

// The root's send inside waits for 1, which waits for the root; 2 waits for 1.
static void bcast_large_against_recv(const struct scene* s) {
  const MPI_Comm pair = scene_pair(s, 0, 1);
  if (s->rank == 0) {
    void* const data = scene_buffer();
    scene_ready(s);
    MPI_Bcast(data, large, MPI_BYTE, 0, pair);
  } else {
    recv_from(s, s->rank - 1, usual_tag, WORLD);
  }
}

// The root waits for 1, which waits for the root; 2 has given its part and waits for 1.
static void gather_against_recv(const struct scene* s) {
  if (s->rank == 0)
    scene_ready(s);
  if (s->rank != 1)
    MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD);
  if (s->rank != 0)
    recv_from(s, s->rank - 1, usual_tag, WORLD);
}

// 2 waits for 1 in the scan, 1 for 2; 0 is through, and waits for 1.
static void scan_against_recv(const struct scene* s) {
  if (s->rank == 2)
    scene_ready(s);
  if (s->rank != 1)
    MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, WORLD);
  if (s->rank != 2)
    recv_from(s, s->rank == 0 ? 1 : 2, usual_tag, WORLD);
}

static void alltoall_against_ssend(const struct scene* s) {
  if (s->rank == 0) {
    scene_ready(s);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, WORLD);
  } else {
    ssend_to(s, 0, usual_tag, WORLD);
  }
}

// Each rank's first one meets the other's: what was sent in them is never received, and both wait
// in their second.
static void order_of_ibcasts(const struct scene* s) {
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i)
    MPI_Ibcast(&in[i], 1, MPI_INT, i == 0 ? s->rank : 1 - s->rank, WORLD, &requests[i]);
  scene_ready(s);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// On two communicators, where the order does not matter: but each waits for one that the other has
// not begun.
static void order_of_ibarriers(const struct scene* s) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(WORLD, &copy);
  MPI_Ibarrier(s->rank == 0 ? WORLD : copy, &request);
  scene_ready(s);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(s->rank == 0 ? copy : WORLD);
}

static void iallreduce_against_recv(const struct scene* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (s->rank == 0) {
    MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, WORLD, &request);
    scene_ready(s);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

// 0 and 1 wait for one another; the others are in a barrier that both of them have not begun.
static void barrier_behind(const struct scene* s) {
  if (s->rank < 2) {
    recv_from(s, 1 - s->rank, usual_tag, WORLD);
  } else {
    scene_ready(s);
    MPI_Barrier(WORLD);
  }
}

const struct scenario collective_scenarios[] = {
    {.name = "order_of_collectives", .run = order_of_collectives},
    {.name = "order_of_communicators", .run = order_of_communicators},
    {.name = "ring_of_pairs", .run = ring_of_pairs},
    {.name = "roots_of_bcast", .run = roots_of_bcast},
    {.name = "roots_of_reduce", .run = roots_of_reduce},
    {.name = "bcast_against_recv", .run = bcast_against_recv},
    {.name = "bcast_large_against_recv", .run = bcast_large_against_recv},
    {.name = "gather_against_recv", .run = gather_against_recv},
    {.name = "scan_against_recv", .run = scan_against_recv},
    {.name = "alltoall_against_ssend", .run = alltoall_against_ssend},
    {.name = "order_of_ibcasts", .run = order_of_ibcasts},
    {.name = "order_of_ibarriers", .run = order_of_ibarriers},
    {.name = "iallreduce_against_recv", .run = iallreduce_against_recv},
    {.name = "barrier_behind", .run = barrier_behind},
    {0},
};
