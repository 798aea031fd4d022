// Threads that post, match and remove without a pause, for a debugger to stop anywhere. Whatever
// is posted is of one thread (`peer`) and one round (`tag`), and every other field follows from
// these: length 3 * tag, what came 2 * tag.

#include "dll/recorder/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { threads = 4, kept = 8, lifetime_seconds = 120 };

static struct mqr_recorded_communicator* world;

static void* post_for_ever(void* argument) {
  const int32_t self = *(const int32_t*)argument;
  struct mqr_recorded_operation* posted[kept] = {NULL};
  for (int32_t round = 0;; ++round) {
    struct mqr_recorded_operation** const place = &posted[round % kept];
    if (*place != NULL)
      mqr_operation_remove(*place);
    const struct mqr_operation_spec spec = {
        .queue = MQR_RECEIVE, .peer = self, .tag = round, .length = 3 * (uint64_t)round};
    mqr_operation_begin(world, &spec, place);
    struct mqr_recorded_operation* const earlier = posted[(round + kept / 2) % kept];
    if (earlier != NULL)
      mqr_operation_match(earlier, self, round - kept / 2, 2 * (uint64_t)(round - kept / 2));
  }
  return NULL;
}

static void* make_communicators_for_ever(void* argument) {
  for (uint64_t id = 2;; ++id) {
    const struct mqr_communicator_spec spec = {"comes", id, 0, 1, NULL, 0, NULL, 0};
    struct mqr_recorded_communicator* added = NULL;
    if (mqr_communicator_add(&spec, &added) == MQR_OK) {
      mqr_communicator_rename(added, "goes");
      mqr_communicator_free(added);
    }
  }
  return argument;
}

int main(void) {
  alarm(lifetime_seconds); // nothing outlives a test that died
  const struct mqr_communicator_spec spec = {"MPI_COMM_WORLD", 1, 0, threads, NULL, 0, NULL, 0};
  if (mqr_init(NULL) != MQR_OK || mqr_communicator_add(&spec, &world) != MQR_OK)
    return 8;
  static int32_t numbers[threads];
  pthread_t thread;
  for (int32_t i = 0; i < threads; ++i) {
    numbers[i] = i;
    if (pthread_create(&thread, NULL, post_for_ever, &numbers[i]) != 0)
      return 8;
  }
  if (pthread_create(&thread, NULL, make_communicators_for_ever, NULL) != 0)
    return 8;
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
