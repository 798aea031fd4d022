// Intercommunicators, spawned jobs, communicators that some make, ranks that are gone or about to
// go: deadlocks and such as are none.

#include "tests/inferiors/job_files.h"
#include "tests/inferiors/verdict.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

// Of the even and the odd ranks among those below `count`; MPI_COMM_NULL elsewhere. All ranks.
static MPI_Comm even_and_odd(const struct scene* s, int count) {
  MPI_Comm side = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(WORLD, s->rank < count ? s->rank % 2 : MPI_UNDEFINED, s->rank, &side);
  if (side != MPI_COMM_NULL)
    MPI_Intercomm_create(side, 0, WORLD, 1 - s->rank % 2, 1, &between);
  return between;
}

// Each waits for the first of the other side: 0 <-> 1.
static void inter_recv(const struct scene* s) {
  recv_from(s, 0, usual_tag, even_and_odd(s, s->size));
}

static void inter_any(const struct scene* s) {
  recv_from(s, MPI_ANY_SOURCE, usual_tag, even_and_odd(s, s->size));
}

// 0 waits for 1 across, 1 for 0 by a message; 2 for 0.
static void inter_barrier(const struct scene* s) {
  const MPI_Comm between = even_and_odd(s, 2);
  if (s->rank == 0) {
    scene_ready(s);
    MPI_Barrier(between);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

// The receivers of a broadcast across wait for its root, which waits for one of them.
static void inter_bcast(const struct scene* s) {
  const MPI_Comm between = even_and_odd(s, s->size);
  int data = 0;
  if (s->rank == 0) {
    recv_from(s, 1, usual_tag, WORLD);
  } else if (s->rank % 2) {
    scene_ready(s);
    MPI_Bcast(&data, 1, MPI_INT, 0, between);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

// The last one waits for a message of 0 instead: 0 for 1 across, 1 for the last one on its side; 2
// for 0.
static void merge_against_recv(const struct scene* s) {
  const MPI_Comm between = even_and_odd(s, s->size);
  MPI_Comm merged = MPI_COMM_NULL;
  if (s->rank == s->size - 1) {
    recv_from(s, 0, usual_tag, WORLD);
  } else {
    scene_ready(s);
    MPI_Intercomm_merge(between, 0, &merged);
  }
}

static MPI_Comm spawn(const struct scene* s) {
  MPI_Comm jobs = MPI_COMM_NULL;
  MPI_Comm_get_parent(&jobs);
  if (jobs == MPI_COMM_NULL)
    MPI_Comm_spawn(s->argv[0], &s->argv[1], s->size, MPI_INFO_NULL, 0, WORLD, &jobs,
                   MPI_ERRCODES_IGNORE);
  return jobs;
}

// The two ranks 0 wait for one another; in each job 1 waits for 0.
static void spawned(const struct scene* s) {
  const MPI_Comm jobs = spawn(s);
  recv_from(s, 0, usual_tag, s->rank == 0 ? jobs : WORLD);
}

// A port leads from rank 1 of one job to rank 1 of the other: these two wait for one another there,
// and in each job 0 waits for 1.
static void connected(const struct scene* s) {
  const MPI_Comm jobs = spawn(s);
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm between = MPI_COMM_NULL;
  if (s->rank == 0)
    recv_from(s, 1, usual_tag, WORLD);
  if (s->number < s->size) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, usual_tag, jobs);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
  } else {
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, usual_tag, jobs, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
  }
  recv_from(s, 0, usual_tag, between);
}

// A job that has grown: all of both wait for their neighbours, where nothing is left of what the
// spawn has made but copies.
static void grown(const struct scene* s) {
  MPI_Comm jobs = spawn(s);
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  MPI_Intercomm_merge(jobs, s->number >= s->size, &merged);
  MPI_Comm_split(merged, 0, 0, &copy);
  MPI_Comm_free(&merged);
  MPI_Comm_rank(copy, &rank);
  MPI_Comm_size(copy, &size);
  recv_from(s, (rank + 1) % size, usual_tag, copy);
}

// Between two jobs Open MPI 4.1 hangs in MPI_Finalize as often as not. MPICH's mpiexec kills the
// other ranks as soon as one has ended without it.
static void leave_together(const struct scene* s, MPI_Comm jobs) {
  job_finished(s->directory, s->number);
  MPI_Barrier(jobs);
  _exit(0);
}

// The parents wait for the children, which compute.
static void spawned_work(const struct scene* s) {
  const MPI_Comm jobs = spawn(s);
  if (s->number < s->size) {
    recv_from(s, s->rank, usual_tag, jobs);
  } else {
    scene_ready(s);
    scene_work(s);
    send_small(s->rank, usual_tag, jobs);
  }
  leave_together(s, jobs);
}

static void comm_dup_by_some(const struct scene* s) {
  const MPI_Comm pair = scene_pair(s, 0, 1);
  MPI_Comm copy = MPI_COMM_NULL;
  if (s->rank == 0) {
    scene_ready(s);
    MPI_Comm_dup(pair, &copy);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

static void comm_split_by_some(const struct scene* s) {
  const MPI_Comm pair = scene_pair(s, 0, 1);
  MPI_Comm part = MPI_COMM_NULL;
  if (s->rank == 1) {
    scene_ready(s);
    MPI_Comm_split(pair, 0, 0, &part);
  } else {
    recv_from(s, 1, usual_tag, WORLD);
  }
}

static void leave_early(const struct scene* s) {
  scene_ready(s);
  job_finished(s->directory, s->number);
  _exit(0);
}

// 0 waits for 2, which is gone; 1 for 0.
static void early_exit(const struct scene* s) {
  if (s->rank == 2)
    leave_early(s);
  recv_from(s, s->rank == 0 ? 2 : 0, usual_tag, WORLD);
}

// 1 waits for any: for 0, which waits for 1, or for 2, which is gone.
static void early_exit_any(const struct scene* s) {
  if (s->rank == 2)
    leave_early(s);
  recv_from(s, s->rank == 0 ? 1 : MPI_ANY_SOURCE, usual_tag, WORLD);
}

// 2 is gone, and nobody waits for it.
static void early_exit_unneeded(const struct scene* s) {
  if (s->rank == 2)
    leave_early(s);
  if (s->rank == 0) {
    recv_from(s, 1, usual_tag, WORLD);
  } else {
    scene_ready(s);
    scene_work(s);
    send_small(0, usual_tag, WORLD);
  }
  job_finished(s->directory, s->number);
  _exit(0);
}

// 0 waits for 1, which is in MPI_Finalize, as is 2.
static void finalize_by_some(const struct scene* s) {
  if (s->rank == 0)
    recv_from(s, 1, usual_tag, WORLD);
  else
    scene_ready(s);
}

// Waits for any of those that are in MPI_Finalize.
static void finalize_by_all_others(const struct scene* s) {
  if (s->rank == 0)
    recv_from(s, MPI_ANY_SOURCE, usual_tag, WORLD);
  else
    scene_ready(s);
}

static void finalize_late(const struct scene* s) {
  scene_ready(s);
  if (s->rank == 0)
    scene_work(s);
}

static int work_at_the_end(MPI_Comm comm, int keyval, void* value, void* state) {
  (void)comm, (void)keyval, (void)state;
  scene_work(value);
  return MPI_SUCCESS;
}

// All are in MPI_Finalize, where 1 still computes, in what the program left there to be called.
static void finalize_with_work(const struct scene* s) {
  static struct scene kept;
  int keyval = MPI_KEYVAL_INVALID;
  kept = *s;
  if (s->rank == 1) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, work_at_the_end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &kept);
  }
  scene_ready(s);
}

// 0 is in a fence that 1 does not enter.
static void fence_against_recv(const struct scene* s) {
  void* memory = NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(small, 1, MPI_INFO_NULL, WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  if (s->rank == 1)
    return recv_from(s, 0, usual_tag, WORLD);
  scene_ready(s);
  MPI_Win_fence(0, window);
}

static void fence_of_created(const struct scene* s) {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(scene_buffer(), small, 1, MPI_INFO_NULL, WORLD, &window);
  MPI_Win_fence(0, window);
  if (s->rank == 1)
    return recv_from(s, 0, usual_tag, WORLD);
  scene_ready(s);
  MPI_Win_fence(0, window);
}

// A fence that one enters late.
static void fence_late(const struct scene* s) {
  void* memory = NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(small, 1, MPI_INFO_NULL, WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  scene_ready(s);
  if (s->rank == 1)
    scene_work(s);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

#ifdef MPI_MODE_CREATE // else the MPI was built without MPI-IO
static MPI_File open_file(const struct scene* s) {
  char path[PATH_MAX];
  MPI_File file = MPI_FILE_NULL;
  snprintf(path, sizeof path, "%s/file", s->directory);
  MPI_File_open(WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  return file;
}

// All write but the last, which closes.
static void write_against_close(const struct scene* s) {
  MPI_File file = open_file(s);
  scene_ready(s);
  if (s->rank == s->size - 1)
    MPI_File_close(&file);
  else
    MPI_File_write_at_all(file, s->rank * small, scene_buffer(), small, MPI_BYTE,
                          MPI_STATUS_IGNORE);
}

static void write_late(const struct scene* s) {
  MPI_File file = open_file(s);
  scene_ready(s);
  if (s->rank == s->size - 1)
    scene_work(s);
  MPI_File_write_at_all(file, s->rank * small, scene_buffer(), small, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}
#endif

const struct scenario group_scenarios[] = {
    {.name = "fence_against_recv", .run = fence_against_recv},
    {.name = "fence_of_created", .run = fence_of_created},
    {.name = "fence_late", .run = fence_late},
#ifdef MPI_MODE_CREATE
    {.name = "write_against_close", .run = write_against_close},
    {.name = "write_late", .run = write_late},
#endif
    {.name = "inter_recv", .run = inter_recv},
    {.name = "inter_any", .run = inter_any},
    {.name = "inter_barrier", .run = inter_barrier},
    {.name = "merge_against_recv", .run = merge_against_recv},
    {.name = "inter_bcast", .run = inter_bcast},
    {.name = "spawned", .run = spawned},
    {.name = "connected", .run = connected},
    {.name = "grown", .run = grown},
    {.name = "spawned_work", .run = spawned_work},
    {.name = "comm_dup_by_some", .run = comm_dup_by_some},
    {.name = "comm_split_by_some", .run = comm_split_by_some},
    {.name = "early_exit", .run = early_exit},
    {.name = "early_exit_any", .run = early_exit_any},
    {.name = "early_exit_unneeded", .run = early_exit_unneeded},
    {.name = "finalize_by_some", .run = finalize_by_some},
    {.name = "finalize_by_all_others", .run = finalize_by_all_others},
    {.name = "finalize_late", .run = finalize_late},
    {.name = "finalize_with_work", .run = finalize_with_work},
    {0},
};
