// No deadlocks: somebody computes, sleeps, or has just not come so far; the others wait.

#include "tests/inferiors/job_files.h"
#include "tests/inferiors/verdict.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

static int last(const struct scene* s) {
  return s->size - 1;
}

// Says that the rank is ready, and computes until the end is near.
static void ready_and_work(const struct scene* s) {
  scene_ready(s);
  scene_work(s);
}

// Each but the last waits for the next.
static void compute_before_send(const struct scene* s) {
  if (s->rank == last(s))
    ready_and_work(s);
  else
    recv_from(s, s->rank + 1, usual_tag, WORLD);
  if (s->rank > 0)
    send_small(s->rank - 1, usual_tag, WORLD);
}

static void sleep_before_send(const struct scene* s) {
  if (s->rank == 0) {
    recv_from(s, 1, usual_tag, WORLD);
  } else {
    scene_ready(s);
    job_wait_for_go(s->directory);
    send_small(0, usual_tag, WORLD);
  }
}

static void late_receiver(const struct scene* s) {
  if (s->rank == 0) {
    ssend_to(s, 1, usual_tag, WORLD);
  } else {
    ready_and_work(s);
    recv_small(0, usual_tag, WORLD);
  }
}

// The receive is posted, but who posted it computes: nothing progresses there.
static void needs_progress(const struct scene* s) {
  if (s->rank == 0) {
    send_large_to(s, 1, usual_tag, WORLD);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(scene_buffer(), large, MPI_BYTE, 0, usual_tag, WORLD, &request);
    ready_and_work(s);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void straggler(const struct scene* s) {
  if (s->rank == last(s))
    ready_and_work(s);
  else
    scene_ready(s);
  MPI_Barrier(WORLD);
}

static void straggler_of_allreduce(const struct scene* s) {
  double in[64] = {0};
  double out[64];
  if (s->rank == 1)
    ready_and_work(s);
  else
    scene_ready(s);
  MPI_Allreduce(in, out, 64, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void straggler_of_comm_dup(const struct scene* s) {
  MPI_Comm copy = MPI_COMM_NULL;
  if (s->rank == 1)
    ready_and_work(s);
  else
    scene_ready(s);
  MPI_Comm_dup(WORLD, &copy);
}

// All have receives pending, and none waits.
static void pending_receives(const struct scene* s) {
  MPI_Request requests[8];
  for (int i = 0; i < s->size; ++i)
    requests[i] = irecv_small(i, usual_tag, WORLD);
  ready_and_work(s);
  for (int i = 0; i < s->size; ++i)
    send_small(i, usual_tag, WORLD);
  MPI_Waitall(s->size, requests, MPI_STATUSES_IGNORE);
}

static void serve(const struct scene* s) {
  scene_ready(s);
  for (int i = 1; i < s->size; ++i)
    recv_small(MPI_ANY_SOURCE, usual_tag, WORLD);
}

// A server whose clients have nothing to ask yet.
static void idle_clients(const struct scene* s) {
  if (s->rank == 0) {
    serve(s);
  } else {
    ready_and_work(s);
    send_small(0, usual_tag, WORLD);
  }
}

// The server waits for any, two of its clients for the server, and the last one computes.
static void one_client_works(const struct scene* s) {
  if (s->rank == 0) {
    serve(s);
    for (int i = 1; i < last(s); ++i)
      send_small(i, usual_tag, WORLD);
    return;
  }
  if (s->rank == last(s)) {
    ready_and_work(s);
    for (int i = 1; i < s->size; ++i)
      send_small(0, usual_tag, WORLD);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

// 0 waits for 1, which waits for 0, or for 2, which computes.
static void waitany_one_works(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), irecv_small(2, 2, WORLD)};
    int index = 0;
    scene_ready(s);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    send_small(1, usual_tag, WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (s->rank == 1) {
    recv_from(s, 0, usual_tag, WORLD);
    send_small(0, 1, WORLD);
  } else {
    ready_and_work(s);
    send_small(0, 2, WORLD);
  }
}

// 0 has posted a receive from 2, too, which waits for 0; but it waits for the one from 1 alone.
static void wait_first(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), irecv_small(2, 2, WORLD)};
    scene_ready(s);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    send_small(2, usual_tag, WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  } else if (s->rank == 2) {
    recv_from(s, 0, usual_tag, WORLD);
    send_small(0, 2, WORLD);
  } else {
    ready_and_work(s);
    send_small(0, 1, WORLD);
  }
}

// An allreduce that 1 has begun, and 2 not, goes on inside the receive.
static void ibarrier_inside(const struct scene* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (s->rank == 2)
    ready_and_work(s);
  MPI_Ibarrier(WORLD, &request);
  if (s->rank < 2)
    recv_from(s, s->rank + 1, usual_tag, WORLD);
  if (s->rank > 0)
    send_small(s->rank - 1, usual_tag, WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_loop(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request request = irecv_small(1, usual_tag, WORLD);
    scene_ready(s);
    for (int done = 0; !done;)
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  } else {
    ready_and_work(s);
    send_small(0, usual_tag, WORLD);
  }
}

static void iprobe_server(const struct scene* s) {
  if (s->rank == 0) {
    scene_ready(s);
    for (int served = 0; served + 1 < s->size;) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, usual_tag, WORLD, &there, &status);
      if (there) {
        recv_small(status.MPI_SOURCE, usual_tag, WORLD);
        ++served;
      }
    }
  } else {
    ready_and_work(s);
    send_small(0, usual_tag, WORLD);
  }
}

static void probe_late(const struct scene* s) {
  if (s->rank == 0) {
    scene_ready(s);
    MPI_Probe(1, usual_tag, WORLD, MPI_STATUS_IGNORE);
    recv_small(1, usual_tag, WORLD);
  } else {
    ready_and_work(s);
    send_small(0, usual_tag, WORLD);
  }
}

// All wait for the last one, which waits for what another process may write into a pipe.
static void reads_a_pipe(const struct scene* s) {
  char path[PATH_MAX];
  char byte = 0;
  snprintf(path, sizeof path, "%s/pipe", s->directory);
  if (s->rank < s->size - 1) {
    recv_from(s, s->size - 1, usual_tag, WORLD);
    return;
  }
  mkfifo(path, 0600);
  const int pipe = open(path, O_RDWR | O_CLOEXEC);
  scene_ready(s);
  if (read(pipe, &byte, 1) == 1)
    for (int other = 0; other < s->size - 1; ++other)
      send_small(other, usual_tag, WORLD);
  close(pipe);
}

static void ignore(int signal_number) {
  (void)signal_number;
}

// Waits for nothing in MPI, and nobody waits for it. The signal takes the place of verdict.c's.
static void pause_until_go(const struct scene* s) {
  const struct itimerval now_and_then = {{0, 900000}, {0, 900000}};
  signal(SIGALRM, ignore);
  setitimer(ITIMER_REAL, &now_and_then, NULL);
  scene_ready(s);
  while (!job_may_go(s->directory))
    pause();
}

static void pingpong_beside_pause(const struct scene* s) {
  if (s->rank == last(s))
    return pause_until_go(s);
  scene_ready(s);
  for (int over = 0; !over;) {
    if (s->rank == 0)
      over = scene_over(s);
    if (s->rank == 0)
      MPI_Send(&over, 1, MPI_INT, 1, usual_tag, WORLD);
    else
      MPI_Recv(&over, 1, MPI_INT, 0, usual_tag, WORLD, MPI_STATUS_IGNORE);
    if (s->rank == 0)
      recv_small(1, usual_tag, WORLD);
    else
      send_small(0, usual_tag, WORLD);
  }
}

// All pause: nothing tells whether one of them will go on.
static void all_pause(const struct scene* s) {
  pause_until_go(s);
}

// A loop that sleeps between its looks.
static void test_and_sleep(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request request = irecv_small(1, usual_tag, WORLD);
    scene_ready(s);
    for (int done = 0; !done; usleep(1000))
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  } else {
    ready_and_work(s);
    send_small(0, usual_tag, WORLD);
  }
}

// All have receives pending, and look now and then for something outside of MPI.
static void pending_and_asleep(const struct scene* s) {
  MPI_Request request = irecv_small((s->rank + 1) % s->size, usual_tag, WORLD);
  scene_ready(s);
  while (!job_may_go(s->directory))
    usleep(1000);
  send_small((s->rank + last(s)) % s->size, usual_tag, WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

const struct scenario work_scenarios[] = {
    {.name = "compute_before_send", .run = compute_before_send},
    {.name = "sleep_before_send", .run = sleep_before_send},
    {.name = "late_receiver", .run = late_receiver},
    {.name = "needs_progress", .run = needs_progress},
    {.name = "straggler", .run = straggler},
    {.name = "straggler_of_allreduce", .run = straggler_of_allreduce},
    {.name = "straggler_of_comm_dup", .run = straggler_of_comm_dup},
    {.name = "pending_receives", .run = pending_receives},
    {.name = "idle_clients", .run = idle_clients},
    {.name = "one_client_works", .run = one_client_works},
    {.name = "waitany_one_works", .run = waitany_one_works},
    {.name = "wait_first", .run = wait_first},
    {.name = "ibarrier_inside", .run = ibarrier_inside},
    {.name = "test_loop", .run = test_loop},
    {.name = "iprobe_server", .run = iprobe_server},
    {.name = "probe_late", .run = probe_late},
    {.name = "reads_a_pipe", .run = reads_a_pipe},
    {.name = "pingpong_beside_pause", .run = pingpong_beside_pause},
    {.name = "all_pause", .run = all_pause},
    {.name = "test_and_sleep", .run = test_and_sleep},
    {.name = "pending_and_asleep", .run = pending_and_asleep},
    {0},
};
