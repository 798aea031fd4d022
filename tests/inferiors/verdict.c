// A job that is deadlocked, or is not: verdict.h.
//   verdict DIRECTORY SCENARIO
// Each process writes ready.NUMBER when it is where the scenario leads, or about to be. Those that
// can come to their end do so after `go`.

#include "tests/inferiors/verdict.h"

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { look_every_ms = 5, longest_seconds = 300 };

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void scene_ready(const struct scene* s) {
  job_ready(s->directory, s->number);
}

int scene_over(const struct scene* s) {
  static long looked = 0;
  static int over = 0;
  const long now = now_ms();
  if (now - looked >= look_every_ms) {
    looked = now;
    over = job_may_go(s->directory);
  }
  return over;
}

void scene_work_for(int milliseconds) {
  volatile double sum = 0;
  const long end = now_ms() + milliseconds;
  while (now_ms() < end)
    for (int i = 1; i < 100000; ++i)
      sum = sum + 1.0 / i;
}

void scene_work(const struct scene* s) {
  while (!job_may_go(s->directory))
    scene_work_for(2 * look_every_ms);
}

void* scene_buffer(void) {
  void* const memory = calloc(1, large);
  if (memory == NULL)
    abort();
  return memory;
}

MPI_Comm scene_pair(const struct scene* s, int first, int second) {
  MPI_Comm pair = MPI_COMM_NULL;
  const int inside = s->rank == first || s->rank == second;
  MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, s->rank, &pair);
  return pair;
}

void recv_from(const struct scene* s, int peer, int tag, MPI_Comm comm) {
  scene_ready(s);
  recv_small(peer, tag, comm);
}

void ssend_to(const struct scene* s, int peer, int tag, MPI_Comm comm) {
  scene_ready(s);
  MPI_Ssend(scene_buffer(), small, MPI_BYTE, peer, tag, comm);
}

void send_large_to(const struct scene* s, int peer, int tag, MPI_Comm comm) {
  scene_ready(s);
  MPI_Send(scene_buffer(), large, MPI_BYTE, peer, tag, comm);
}

void send_small(int peer, int tag, MPI_Comm comm) {
  MPI_Send(scene_buffer(), small, MPI_BYTE, peer, tag, comm);
}

void recv_small(int peer, int tag, MPI_Comm comm) {
  MPI_Recv(scene_buffer(), small, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
}

MPI_Request irecv_small(int peer, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(scene_buffer(), small, MPI_BYTE, peer, tag, comm, &request);
  return request;
}

static const struct scenario* scenario_named(const char* name) {
  const struct scenario* const tables[] = {
      message_scenarios, waiting_scenarios, collective_scenarios, group_scenarios,
      thread_scenarios,  work_scenarios,    moving_scenarios,     together_scenarios};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
    for (const struct scenario* each = tables[i]; each->name != NULL; ++each)
      if (strcmp(each->name, name) == 0)
        return each;
  fprintf(stderr, "no scenario %s\n", name);
  exit(2);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: verdict DIRECTORY SCENARIO\n");
    return 2;
  }
  alarm(longest_seconds); // a deadlock ends, whatever became of who was to end it
  const struct scenario* const scenario = scenario_named(argv[2]);
  struct scene s = {.directory = argv[1], .argv = argv};
  int provided = 0;
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Init_thread(&argc, &argv, scenario->threads, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  MPI_Comm_get_parent(&parent);
  s.number = s.rank + (parent == MPI_COMM_NULL ? 0 : s.size);
  scenario->run(&s);
  MPI_Finalize();
  job_finished(s.directory, s.number);
  return 0;
}
