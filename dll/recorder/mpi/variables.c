#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/mpi/variables.h"

#include "dll/recorder/mpi/call.h"
#include "dll/recorder/mpi/listed_variables.h"
#include "dll/recorder/mpi/samples.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  shortest_ms = 10, /* between samples in calls that wait */
  longest_ms = 86400000,
  shortest_list_ms = 1000, /* between lists */
  cost_of_hundred = 100    /* a sample that took 1 ms is followed by 100 ms without one */
};

/* clang-format off */
#define NEVER_WAITS(F)                                                                             \
  F(Isend) F(Ibsend) F(Issend) F(Irsend) F(Irecv) F(Iprobe) F(Improbe) F(Imrecv)                   \
  F(Send_init) F(Bsend_init) F(Ssend_init) F(Rsend_init) F(Recv_init) F(Start) F(Startall)         \
  F(Test) F(Testall) F(Testany) F(Testsome) F(Cancel) F(Request_free) F(Comm_idup) F(Abort)        \
  F(Ibarrier) F(Ibcast) F(Igather) F(Igatherv) F(Iscatter) F(Iscatterv) F(Iallgather)              \
  F(Iallgatherv) F(Ialltoall) F(Ialltoallv) F(Ialltoallw) F(Ireduce) F(Iallreduce)                 \
  F(Ireduce_scatter) F(Ireduce_scatter_block) F(Iscan) F(Iexscan) F(Ineighbor_allgather)           \
  F(Ineighbor_allgatherv) F(Ineighbor_alltoall) F(Ineighbor_alltoallv) F(Ineighbor_alltoallw)      \
  F(Win_test)
/* clang-format on */
const unsigned char mqr_never_waits[MQR_FUNCTION_NUMBERS] = {
#define MQR_MEMBER(name) [MQR_##name] = 1,
    NEVER_WAITS(MQR_MEMBER)
#undef MQR_MEMBER
        [MQR_Request_get_status... MQR_Isendrecv_replace] =
            1, /* that make requests, or ask for one */
};

uint32_t mqr_sampling;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* This thread holds the lock. */
static _Thread_local int holds __attribute__((tls_model("initial-exec")));
static int broken; /* a thread left it by longjmp(): nothing is touched any more */
static int wanted; /* by the environment */
static int is_open;
static int stamp;       /* MPI_T_category_changed */
static uint32_t listed; /* milliseconds, modulo 2^32, as all that follow */
static uint32_t last;   /* sample */
static uint32_t
    interval[2];        /* to the next sample, in calls that do not wait and in those that do */
static uint32_t chosen; /* MQBRIDGE_SAMPLE_MS; 0: none */

/* Tries to take the lock. 0: another thread has it, or it is of no use any more. */
static int try_hold(void) {
  if (broken || pthread_mutex_trylock(&lock) != 0)
    return 0;
  holds = 1;
  return 1;
}

static int hold(void) {
  if (broken)
    return 0;
  pthread_mutex_lock(&lock);
  holds = 1;
  return 1;
}

static void let_go(void) {
  holds = 0;
  pthread_mutex_unlock(&lock);
}

void mqr_variables_left_by_a_jump(void) {
  if (!holds)
    return;
  broken = 1;
  __atomic_store_n(&mqr_sampling, MQR_SAMPLES_NEVER, __ATOMIC_RELAXED);
  let_go();
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now = {0, 0};
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint32_t milliseconds(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* a few nanoseconds */
  return (uint32_t)now.tv_sec * 1000 + (uint32_t)(now.tv_nsec / 1000000);
}

static uint64_t wall_clock(void) {
  return (uint64_t)nanoseconds(CLOCK_REALTIME);
}

/* Lists the variables. If that fails, the old list stays as it was, without samples. */
static void list(uint32_t now) {
  listed = now;
  mqr_tool.category_changed(&stamp);
  mqr_samples_close();
  if (!mqr_samples_open())
    return;
  struct mqr_variables* const block = mqr_list_all(wall_clock(), mqr_samples_take);
  if (block != NULL)
    mqr_variables_publish(block);
  else
    mqr_samples_close();
}

static int has_changed(uint32_t now) {
  int current = stamp;
  return mqr_tool_changes() && now - listed >= shortest_list_ms &&
         mqr_tool.category_changed(&current) == MPI_SUCCESS && current != stamp;
}

static void sample(uint32_t now) {
  const int64_t began = nanoseconds(CLOCK_MONOTONIC);
  if (has_changed(now))
    list(now);
  if (!mqr_samples_read(wall_clock())) {
    is_open = 0; /* the program has finalized MPI_T more often than it has initialized it */
    __atomic_store_n(&mqr_sampling, MQR_SAMPLES_NEVER, __ATOMIC_RELAXED);
    return;
  }
  const int64_t cost = nanoseconds(CLOCK_MONOTONIC) - began;
  const uint32_t pause = (uint32_t)(cost * cost_of_hundred / 1000000);
  const uint32_t in_waits = chosen > 0 && chosen < shortest_ms ? chosen : shortest_ms;
  __atomic_store_n(&interval[0], pause > chosen ? pause : chosen, __ATOMIC_RELAXED);
  __atomic_store_n(&interval[1], pause > in_waits ? pause : in_waits, __ATOMIC_RELAXED);
  __atomic_store_n(&last, now, __ATOMIC_RELAXED);
}

void mqr_sample_if_due(int waits) {
  const uint32_t now = milliseconds();
  const uint32_t passed = now - __atomic_load_n(&last, __ATOMIC_RELAXED);
  if (passed < __atomic_load_n(&interval[waits], __ATOMIC_RELAXED) || !try_hold())
    return;
  if (is_open)
    sample(now);
  let_go();
}

/* Listing Open MPI's variables takes a fifth of a second and loads all of its components; readers
 * find the variables in its memory without that. */
static int is_wanted(void) {
  const char* const variables = getenv("MQBRIDGE_VARIABLES");
#ifdef OPEN_MPI
  return variables != NULL && strcmp(variables, "1") == 0;
#else
  return variables == NULL || strcmp(variables, "0") != 0;
#endif
}

static uint32_t chosen_interval(void) {
  const char* const text = getenv("MQBRIDGE_SAMPLE_MS");
  const long number = text != NULL ? strtol(text, NULL, 10) : 0;
  if (number < 0)
    return 0;
  return number < longest_ms ? (uint32_t)number : longest_ms;
}

void mqr_variables_before_init(const void* site) {
  wanted = is_wanted();
  chosen = chosen_interval();
  if (wanted)
    mqr_tool_look(site, 0);
}

void mqr_variables_start(const void* site) {
  if (!wanted || !hold())
    return;
  mqr_tool_look(site, 1);
  is_open = mqr_tool_open();
  if (is_open) {
    const uint32_t now = milliseconds();
    list(now);
    sample(now);
  }
  if (is_open)
    __atomic_store_n(&mqr_sampling, chosen > 0 ? MQR_SAMPLES_CALLS : MQR_SAMPLES_WAITS,
                     __ATOMIC_RELAXED);
  let_go();
}

void mqr_variables_stop(void) {
  if (!hold())
    return;
  __atomic_store_n(&mqr_sampling, MQR_SAMPLES_NEVER, __ATOMIC_RELAXED);
  if (is_open) {
    mqr_samples_close();
    mqr_tool_close();
  }
  is_open = 0;
  wanted = 0;
  let_go();
}

void mqr_variables_add_communicator(MPI_Comm comm, uint64_t id) {
  if (!wanted || !hold())
    return;
  mqr_samples_add_communicator(comm, id);
  let_go();
}

void mqr_variables_remove_communicator(MPI_Comm comm) {
  if (!hold())
    return;
  mqr_samples_remove_communicator(comm);
  let_go();
}

void mqr_variables_forget_communicators(void) {
  if (!hold())
    return;
  mqr_samples_forget_communicators();
  let_go();
}

/* Open MPI writes `provided` for the first caller only, and that was the recorder. */
static int init_thread(int (*next)(int, int*), int required, int* provided) {
  int given = INT_MIN;
  const int result = next(required, &given);
  if (result == MPI_SUCCESS && given == INT_MIN && is_open)
    mqr_mpi.Query_thread(&given);
  if (provided != NULL && given != INT_MIN)
    *provided = given;
  return result;
}

#define INIT_THREAD(prefix)                                                                        \
  MQR_EXPORTED int prefix##T_init_thread(int required, int* provided) {                            \
    static mqr_any_function* next;                                                                 \
    if (next == NULL &&                                                                            \
        mqr_resolve(&next, #prefix "T_init_thread", __builtin_return_address(0)) != next)          \
      return MPI_ERR_OTHER; /* there is none */                                                    \
    return init_thread((int (*)(int, int*))next, required, provided);                              \
  }
INIT_THREAD(MPI_)
INIT_THREAD(PMPI_)
