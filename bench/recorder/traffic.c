/* Traffic of two ranks, timed call by call: recorder_bench runs it with and without the recorder.
 *
 *   traffic calls     latency, window, pairs, self, poll (MPI_THREAD_SINGLE)
 *   traffic threads   four threads at MPI_THREAD_MULTIPLE, each with itself on a communicator
 *   traffic memory    the growth of the process by 100,000 pending receives
 *
 * Rank 0 prints a line for each case, "NAME VALUE": nanoseconds a call, or bytes a receive. It is
 * the least of many batches, so that what else the machine does matters little. Every batch checks
 * what it has received; a wrong answer ends the job. */

#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 60, ROUNDS = 500, WINDOW = 64, WINDOWS = 20, POLLS = 20000, THREADS = 4 };
enum { PENDING = 100000 };

static int rank;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void expect(int64_t got, int64_t wanted) {
  if (got == wanted)
    return;
  fprintf(stderr, "rank %d: received %lld, not %lld\n", rank, (long long)got, (long long)wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Each does a batch, and returns the calls that it has made one after the other. */

static int latency(MPI_Comm comm) {
  for (int64_t i = 0; i < ROUNDS; ++i) {
    int64_t value = i;
    if (rank == 0)
      MPI_Send(&value, 1, MPI_INT64_T, 1, 1, comm);
    MPI_Recv(&value, 1, MPI_INT64_T, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
    expect(value, rank == 0 ? 2 * i : i);
    value = 2 * i;
    if (rank == 1)
      MPI_Send(&value, 1, MPI_INT64_T, 0, 1, comm);
  }
  return 4 * ROUNDS;
}

static int window(MPI_Comm comm) {
  static int64_t values[WINDOW];
  MPI_Request requests[WINDOW];
  int ready = 0;
  for (int w = 0; w < WINDOWS; ++w) {
    for (int i = 0; i < WINDOW; ++i) {
      if (rank == 0) {
        values[i] = 1000 * w + i;
        MPI_Isend(&values[i], 1, MPI_INT64_T, 1, 2, comm, &requests[i]);
      } else {
        MPI_Irecv(&values[i], 1, MPI_INT64_T, 0, 2, comm, &requests[i]);
      }
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WINDOW; ++i)
      expect(values[i], 1000 * w + i);
    if (rank == 0)
      MPI_Recv(&ready, 1, MPI_INT, 1, 3, comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(&ready, 1, MPI_INT, 0, 3, comm);
  }
  return (WINDOW + 2) * WINDOWS;
}

static int pairs(MPI_Comm comm) {
  for (int64_t i = 0; i < ROUNDS; ++i) {
    int64_t value = i;
    if (rank == 0) {
      MPI_Send(&value, 1, MPI_INT64_T, 1, 4, comm);
    } else {
      MPI_Recv(&value, 1, MPI_INT64_T, 0, 4, comm, MPI_STATUS_IGNORE);
      expect(value, i);
    }
  }
  int done = 0; /* the slower side counts */
  MPI_Bcast(&done, 1, MPI_INT, 1, comm);
  return ROUNDS;
}

static int with_oneself(MPI_Comm comm) {
  for (int64_t i = 0; i < ROUNDS; ++i) {
    int64_t sent = i;
    int64_t received = -1;
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_INT64_T, 0, 5, comm, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT64_T, 0, 5, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(received, i);
  }
  return 3 * ROUNDS;
}

static int poll_one(MPI_Comm comm) {
  int64_t value = -1;
  int64_t sent = 7;
  int flag = 0;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT64_T, 0, 6, comm, &request);
  for (int i = 0; i < POLLS && !flag; ++i)
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  expect(flag, 0);
  MPI_Send(&sent, 1, MPI_INT64_T, 0, 6, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(value, sent);
  return POLLS;
}

static double least(int (*batch)(MPI_Comm), MPI_Comm comm, clockid_t clock) {
  double best = 1e18;
  for (int i = 0; i < BATCHES; ++i) {
    const double begun = now(clock);
    const int calls = batch(comm);
    const double a_call = (now(clock) - begun) / calls;
    best = a_call < best ? a_call : best;
  }
  return best;
}

static void say(const char* name, double value) {
  if (rank == 0)
    printf("%s %.1f\n", name, value);
}

static void calls(void) {
  say("latency", least(latency, MPI_COMM_WORLD, CLOCK_MONOTONIC));
  say("window", least(window, MPI_COMM_WORLD, CLOCK_MONOTONIC));
  say("pairs", least(pairs, MPI_COMM_WORLD, CLOCK_MONOTONIC));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    say("self", least(with_oneself, MPI_COMM_SELF, CLOCK_MONOTONIC));
    say("poll", least(poll_one, MPI_COMM_SELF, CLOCK_MONOTONIC));
  }
}

struct worker {
  pthread_t thread;
  MPI_Comm comm;
  double a_call;
};

static void* work(void* data) {
  struct worker* worker = data;
  worker->a_call = least(with_oneself, worker->comm, CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

/* Processor time of a thread: there may be fewer processors than threads. */
static void threads(void) {
  struct worker workers[THREADS];
  double sum = 0;
  for (int i = 0; i < THREADS; ++i)
    MPI_Comm_dup(MPI_COMM_SELF, &workers[i].comm);
  if (rank == 0) {
    for (int i = 0; i < THREADS; ++i)
      pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < THREADS; ++i) {
      pthread_join(workers[i].thread, NULL);
      sum += workers[i].a_call;
    }
    say("threads", sum / THREADS);
  }
  for (int i = 0; i < THREADS; ++i)
    MPI_Comm_free(&workers[i].comm);
}

static double resident(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1)
    MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void memory(void) {
  if (rank != 0)
    return;
  static MPI_Request requests[PENDING];
  static int64_t values[PENDING];
  memset(requests, 1, sizeof requests); /* resident from here on */
  memset(values, 1, sizeof values);
  with_oneself(MPI_COMM_SELF);
  const double before = resident();
  for (int i = 0; i < PENDING; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT64_T, 0, i % 1000, MPI_COMM_SELF, &requests[i]);
  say("memory", (resident() - before) / PENDING);
  for (int64_t i = 0; i < PENDING; ++i)
    MPI_Send(&i, 1, MPI_INT64_T, 0, (int)(i % 1000), MPI_COMM_SELF);
  MPI_Waitall(PENDING, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < PENDING; ++i)
    expect(values[i], i);
}

int main(int argc, char** argv) {
  const char* what = argc == 2 ? argv[1] : "";
  const int wanted = strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "calls") == 0)
    calls();
  else if (strcmp(what, "threads") == 0 && provided == wanted)
    threads();
  else if (strcmp(what, "memory") == 0)
    memory();
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Finalize();
  return 0;
}
