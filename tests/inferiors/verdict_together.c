// No deadlocks: all ranks do the same again and again, together.

#include "tests/inferiors/verdict.h"

#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

enum { between_looks = 20, doubles = 64, most_ranks = 8 };

static double in[doubles * most_ranks];
static double out[doubles * most_ranks];

/// Calls `once`, and now and then lets rank 0 tell all whether it was enough.
static void again(const struct scene* s, void (*once)(const struct scene* s, int step)) {
  int over = 0;
  scene_ready(s);
  for (int step = 0; !over; ++step) {
    once(s, step);
    if (step % between_looks == 0) {
      over = scene_over(s);
      MPI_Bcast(&over, 1, MPI_INT, 0, WORLD);
    }
  }
}

static void one_barrier(const struct scene* s, int step) {
  (void)s, (void)step;
  MPI_Barrier(WORLD);
}

static void one_allreduce(const struct scene* s, int step) {
  (void)s, (void)step;
  MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void one_bcast(const struct scene* s, int step) {
  MPI_Bcast(in, doubles, MPI_DOUBLE, step % s->size, WORLD);
}

static void one_alltoall(const struct scene* s, int step) {
  (void)s, (void)step;
  MPI_Alltoall(in, doubles, MPI_DOUBLE, out, doubles, MPI_DOUBLE, WORLD);
}

static void one_ibarrier(const struct scene* s, int step) {
  (void)s, (void)step;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void one_of_each(const struct scene* s, int step) {
  void (*const all[])(const struct scene* s, int step) = {one_barrier, one_allreduce, one_bcast,
                                                          one_alltoall, one_ibarrier};
  all[step % 5](s, step);
}

static void one_sendrecv(const struct scene* s, int step) {
  (void)step;
  const int left = (s->rank + s->size - 1) % s->size;
  const int right = (s->rank + 1) % s->size;
  MPI_Sendrecv(in, doubles, MPI_DOUBLE, right, usual_tag, out, doubles, MPI_DOUBLE, left, usual_tag,
               WORLD, MPI_STATUS_IGNORE);
}

static void exchange(const struct scene* s, int bytes, char* from, char* to) {
  MPI_Request requests[4];
  for (int side = 0; side < 2; ++side) {
    const int peer = (s->rank + (side ? 1 : s->size - 1)) % s->size;
    MPI_Irecv(to + (size_t)side * (size_t)bytes, bytes, MPI_BYTE, peer, side, WORLD,
              &requests[side]);
    MPI_Isend(from, bytes, MPI_BYTE, peer, 1 - side, WORLD, &requests[2 + side]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void one_exchange(const struct scene* s, int step) {
  (void)step;
  exchange(s, doubles, (char*)in, (char*)out);
}

static void one_large_exchange(const struct scene* s, int step) {
  static char* from = NULL;
  static char* to = NULL;
  (void)step;
  if (from == NULL) {
    from = scene_buffer();
    to = scene_buffer();
  }
  exchange(s, large / 2, from, to);
}

static void barrier_storm(const struct scene* s) {
  again(s, one_barrier);
}

static void allreduce_storm(const struct scene* s) {
  again(s, one_allreduce);
}

static void bcast_storm(const struct scene* s) {
  again(s, one_bcast);
}

static void alltoall_storm(const struct scene* s) {
  again(s, one_alltoall);
}

static void ibarrier_storm(const struct scene* s) {
  again(s, one_ibarrier);
}

static void mixed_storm(const struct scene* s) {
  again(s, one_of_each);
}

static void halo_sendrecv(const struct scene* s) {
  again(s, one_sendrecv);
}

static void halo_waitall(const struct scene* s) {
  again(s, one_exchange);
}

static void halo_large(const struct scene* s) {
  again(s, one_large_exchange);
}

// 0 changes the memory of 1, which computes.
static void passive_target(const struct scene* s) {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(out, sizeof out, sizeof *out, MPI_INFO_NULL, WORLD, &window);
  scene_ready(s);
  while (!scene_over(s)) {
    if (s->rank == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
      MPI_Put(in, doubles, MPI_DOUBLE, 1, 0, doubles, MPI_DOUBLE, window);
      MPI_Win_unlock(1, window);
    }
    scene_work_for(2);
  }
  MPI_Win_free(&window);
}

const struct scenario together_scenarios[] = {
    {.name = "barrier_storm", .run = barrier_storm},
    {.name = "allreduce_storm", .run = allreduce_storm},
    {.name = "bcast_storm", .run = bcast_storm},
    {.name = "alltoall_storm", .run = alltoall_storm},
    {.name = "ibarrier_storm", .run = ibarrier_storm},
    {.name = "mixed_storm", .run = mixed_storm},
    {.name = "halo_sendrecv", .run = halo_sendrecv},
    {.name = "halo_waitall", .run = halo_waitall},
    {.name = "halo_large", .run = halo_large},
    {.name = "passive_target", .run = passive_target},
    {0},
};
