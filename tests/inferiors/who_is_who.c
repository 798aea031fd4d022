// Ranks that have communicators of all kinds, with ranks of a second job, which they spawn, too.
//   who_is_who DIRECTORY
// Each process writes DIRECTORY/who.PID, which says of each communicator who is in it, by the
// processes' ids: a line "LABEL LOCAL_RANK SIZE PID... REMOTE_SIZE PID..." (REMOTE_SIZE 0: no
// intercommunicator). LABEL is that of a message that is received in it, too: its tag.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { most = 64, spawned = 2, first_tag = 100 };

struct scene {
  FILE* log;
  int count;
  int buffers[most];
  MPI_Request requests[most];
};

static void say_pids(FILE* log, MPI_Comm comm, int count) {
  int own = (int)getpid();
  int pids[most] = {0};
  MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, comm);
  fprintf(log, " %d", count);
  for (int i = 0; i < count; ++i)
    fprintf(log, " %d", pids[i]);
}

// Says who is in `comm`, of whose local side `local` is a communicator; and receives from the last.
static void say(struct scene* scene, MPI_Comm comm, MPI_Comm local) {
  int rank = 0;
  int size = 0;
  int inter = 0;
  int remote = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    MPI_Comm_remote_size(comm, &remote);
  const int label = first_tag + scene->count;
  fprintf(scene->log, "%d %d", label, rank);
  say_pids(scene->log, local, size);
  if (inter)
    say_pids(scene->log, comm, remote);
  else
    fprintf(scene->log, " 0");
  fprintf(scene->log, "\n");
  const int peer = (inter ? remote : size) - 1;
  MPI_Irecv(&scene->buffers[scene->count], 1, MPI_INT, peer, label, comm,
            &scene->requests[scene->count]);
  ++scene->count;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: who_is_who DIRECTORY\n");
    return 2;
  }
  struct scene scene = {0};
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm jobs = MPI_COMM_NULL;
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  scene.log = job_open(argv[1], "who", (int)getpid());
  MPI_Comm_get_parent(&parent);
  const int child = parent != MPI_COMM_NULL;
  if (child)
    jobs = parent;
  else
    MPI_Comm_spawn(argv[0], &argv[1], spawned, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &jobs,
                   MPI_ERRCODES_IGNORE);
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(jobs, child, &merged);
  say(&scene, jobs, MPI_COMM_WORLD);
  say(&scene, merged, merged);

  // Two halves with the same name and context id, and what leads from one to the other.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_set_name(half, "half");
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &between);
  MPI_Comm_set_name(between, rank == 0 ? "to the others" : "from the others");
  say(&scene, half, half);
  say(&scene, between, half);

  MPI_Comm everybody = MPI_COMM_NULL;
  MPI_Comm unnamed = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &everybody);
  MPI_Comm_dup(MPI_COMM_WORLD, &unnamed);
  say(&scene, MPI_COMM_WORLD, MPI_COMM_WORLD);
  say(&scene, everybody, everybody);
  say(&scene, unnamed, unnamed);
  MPI_Comm_set_name(MPI_COMM_WORLD, "renamed");
  MPI_Comm_set_name(everybody, "MPI_COMM_WORLD");

  MPI_Win window = MPI_WIN_NULL;
  int memory[4] = {0};
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  fclose(scene.log);
  MPI_Barrier(merged);
  if (!child)
    job_ready(argv[1], rank);
  job_wait_for_go(argv[1]);
  for (int i = 0; i < scene.count; ++i) {
    MPI_Status status;
    MPI_Cancel(&scene.requests[i]);
    MPI_Wait(&scene.requests[i], &status);
  }
  if (!child)
    job_finished(argv[1], rank);
  // No MPI_Finalize: between two jobs Open MPI 4.1 hangs there as often as not.
  MPI_Barrier(merged);
  _exit(0);
}
