// Several threads of a rank: deadlocks and such as are none.

#include "tests/inferiors/verdict.h"

#include <pthread.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD

enum { thread_tag = 18 };

static void* receive(void* scene) {
  const struct scene* const s = scene;
  recv_small(1 - s->rank, thread_tag, WORLD);
  return NULL;
}

static void* work_and_send(void* scene) {
  const struct scene* const s = scene;
  scene_work(s);
  send_small(1 - s->rank, usual_tag, WORLD);
  return NULL;
}

static void* sleep_long(void* scene) {
  (void)scene;
  const struct timespec long_time = {.tv_sec = 1000};
  nanosleep(&long_time, NULL);
  return NULL;
}

static pthread_t started(const struct scene* s, void* (*run)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, (void*)s);
  return thread;
}

static void threads_all_blocked(const struct scene* s) {
  started(s, receive);
  recv_from(s, 1 - s->rank, usual_tag, WORLD);
}

// A receive in one thread, a send that waits in the other.
static void threads_send_and_recv(const struct scene* s) {
  started(s, receive);
  ssend_to(s, 1 - s->rank, usual_tag, WORLD);
}

// The main thread waits for the one that is blocked.
static void threads_joined(const struct scene* s) {
  const pthread_t thread = started(s, receive);
  scene_ready(s);
  pthread_join(thread, NULL);
}

// Only the main thread may call MPI: what the other one does unblocks nobody.
static void threads_funneled(const struct scene* s) {
  started(s, sleep_long);
  recv_from(s, 1 - s->rank, usual_tag, WORLD);
}

// One thread of each rank waits; another one of rank 1 computes, and will send.
static void thread_works(const struct scene* s) {
  if (s->rank == 0) {
    recv_from(s, 1, usual_tag, WORLD);
    send_small(1, thread_tag, WORLD);
  } else {
    const pthread_t thread = started(s, work_and_send);
    recv_from(s, 0, thread_tag, WORLD);
    pthread_join(thread, NULL);
  }
}

// A ring of receives. Rank 2 has a thread that sleeps, and may call MPI when it wakes up.
static void threads_logger(const struct scene* s) {
  if (s->rank == 2)
    pthread_setname_np(started(s, sleep_long), "logger");
  recv_from(s, (s->rank + 1) % s->size, usual_tag, WORLD);
}

static void* beat(void* scene) {
  const struct scene* const s = scene;
  const struct timespec pause = {.tv_nsec = 1000000};
  while (!scene_over(s))
    nanosleep(&pause, NULL);
  send_small(1 - s->rank, usual_tag, WORLD);
  return NULL;
}

// A thread of each rank looks again and again whether it is to send.
static void threads_heartbeat(const struct scene* s) {
  const pthread_t thread = started(s, beat);
  recv_from(s, 1 - s->rank, usual_tag, WORLD);
  pthread_join(thread, NULL);
}

static int nothing_to_say(void* state, MPI_Status* status) {
  (void)state;
  (void)status;
  return MPI_SUCCESS;
}

static int nothing_to_free(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int nothing_to_cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static MPI_Request generalized; // what the thread of a rank completes

static void* complete_generalized(void* scene) {
  scene_work(scene);
  MPI_Grequest_complete(generalized);
  return NULL;
}

// Rank 0 waits for what its own thread does, the others for nobody.
static void generalized_request(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Grequest_start(nothing_to_say, nothing_to_free, nothing_to_cancel, NULL, &generalized);
    const pthread_t thread = started(s, complete_generalized);
    scene_ready(s);
    MPI_Wait(&generalized, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
  } else {
    scene_ready(s);
    scene_work(s);
  }
}

const struct scenario thread_scenarios[] = {
    {.name = "threads_all_blocked", .run = threads_all_blocked, .threads = MPI_THREAD_MULTIPLE},
    {.name = "threads_send_and_recv", .run = threads_send_and_recv, .threads = MPI_THREAD_MULTIPLE},
    {.name = "threads_joined", .run = threads_joined, .threads = MPI_THREAD_MULTIPLE},
    {.name = "threads_funneled", .run = threads_funneled, .threads = MPI_THREAD_FUNNELED},
    {.name = "thread_works", .run = thread_works, .threads = MPI_THREAD_MULTIPLE},
    {.name = "threads_logger", .run = threads_logger, .threads = MPI_THREAD_MULTIPLE},
    {.name = "threads_heartbeat", .run = threads_heartbeat, .threads = MPI_THREAD_MULTIPLE},
    {.name = "generalized_request", .run = generalized_request, .threads = MPI_THREAD_MULTIPLE},
    {0},
};
