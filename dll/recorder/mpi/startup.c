/* The recording from MPI_Init to MPI_Finalize, and other events that end it. */

#include "dll/recorder/mpi/groups.h"
#include "dll/recorder/mpi/handles.h"
#include "dll/recorder/mpi/joint.h"
#include "dll/recorder/mpi/launcher.h"
#include "dll/recorder/mpi/message.h"
#include "dll/recorder/mpi/variables.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs in a forked child, which inherits the memory of a process of the job, but is none itself. */
static void after_fork(void) {
  if (!mqr_active)
    return;
  mqr_active = 0;
  mqr_abandon();
}

static enum mqr_thread_level level_of(int provided) {
  switch (provided) {
  case MPI_THREAD_SINGLE:
    return MQR_LEVEL_SINGLE;
  case MPI_THREAD_FUNNELED:
    return MQR_LEVEL_FUNNELED;
  case MPI_THREAD_SERIALIZED:
    return MQR_LEVEL_SERIALIZED;
  default:
    return MQR_LEVEL_MULTIPLE;
  }
}

static void name_library(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  if (mqr_mpi.Get_library_version(text, &length) == MPI_SUCCESS)
    mqr_set_library(text);
}

/* `began`: MPI_Init, which meets the parents of a process that was spawned. */
static void activate(const void* site, uint64_t began) {
  static int forks_are_seen;
  int provided = MPI_THREAD_MULTIPLE;
  if (mqr_init(NULL) != MQR_OK)
    return;
  mqr_mpi.Query_thread(&provided);
  mqr_set_threads(level_of(provided));
  name_library();
  if (!mqr_open_world_group()) {
    mqr_finalize();
    return;
  }
  mqr_learn_shared_requests();
  mqr_open_handles();
  mqr_comm_add_predefined();
  mqr_name_job();
  mqr_meet_parents(began);
  mqr_variables_start(site);
  if (!forks_are_seen)
    forks_are_seen = pthread_atfork(NULL, NULL, after_fork) == 0;
  __atomic_store_n(&mqr_active, 1, __ATOMIC_RELEASE);
}

/* Another MPI than the recorder's takes other handles for the same things: no call would survive.
 */
static void check_library(const void* site) {
  const char* problem = NULL;
  if (mqr_open_library(site, &problem))
    return;
  fprintf(stderr,
          "libmqbridge-recorder.so: built for another MPI than this program's (%s): take the one "
          "for this MPI, or build it with this MPI's mpicc\n",
          problem);
  abort();
}

/* A call of MPI_Init that comes from within one, another tool's for example, goes straight on. */
static int starting;

typedef int Init_function(int* argc, char*** argv);
typedef int Init_thread_function(int* argc, char*** argv, int required, int* provided);

#define STARTING(prefix, name, parameters, arguments)                                              \
  MQR_EXPORTED int prefix##name parameters {                                                       \
    const void* const site = __builtin_return_address(0);                                          \
    name##_function* const next = (name##_function*)mqr_find_function(#prefix #name, site);        \
    if (next == NULL)                                                                              \
      return MPI_ERR_OTHER;                                                                        \
    if (starting || mqr_active)                                                                    \
      return next arguments;                                                                       \
    check_library(site);                                                                           \
    mqr_variables_before_init(site);                                                               \
    starting = 1;                                                                                  \
    const uint64_t began = mqr_now();                                                              \
    const int result = next arguments;                                                             \
    starting = 0;                                                                                  \
    if (result == MPI_SUCCESS)                                                                     \
      activate(site, began);                                                                       \
    return result;                                                                                 \
  }
#define INIT(prefix) STARTING(prefix, Init, (int* argc, char*** argv), (argc, argv))
#define INIT_THREAD(prefix)                                                                        \
  STARTING(prefix, Init_thread, (int* argc, char*** argv, int required, int* provided),            \
           (argc, argv, required, provided))
INIT(MPI_)
INIT(PMPI_)
INIT_THREAD(MPI_)
INIT_THREAD(PMPI_)

typedef int Finalize_function(void);

/* MPI_Finalize may wait for other processes: the records stay until it has returned. */
static int finalize(const struct mqr_call* call) {
  mqr_enter_plain(call, MQR_Finalize);
  mqr_close_world_group();
  mqr_variables_stop();
  const int result = MQR_NEXT(Finalize)();
  mqr_leave();
  __atomic_store_n(&mqr_active, 0, __ATOMIC_RELEASE);
  mqr_finalize();
  mqr_comm_forget_all();
  return result;
}

#define FINALIZE(prefix)                                                                           \
  MQR_EXPORTED int prefix##Finalize(void) {                                                        \
    static mqr_any_function* next;                                                                 \
    MQR_CALL(call);                                                                                \
    if (!mqr_begins(&call, &next, #prefix "Finalize", __builtin_return_address(0),                 \
                    __builtin_frame_address(0)))                                                   \
      return ((Finalize_function*)call.next)();                                                    \
    const int result = finalize(&call);                                                            \
    mqr_ends(&call);                                                                               \
    return result;                                                                                 \
  }
FINALIZE(MPI_)
FINALIZE(PMPI_)

MQR_RECORDED(Abort, (MPI_Comm comm, int code), (comm, code))
static int record_Abort(const struct mqr_call* call, MPI_Comm comm, int code) {
  mqr_enter_message(call, MQR_Abort, comm);
  const int result = MQR_NEXT(Abort)(comm, code);
  mqr_leave();
  return result;
}

typedef int Pcontrol_function(const int level, ...);

static void control(int level) {
  mqr_set_recording(level != 0);
  if (level == 2)
    mqr_flush();
}

/* Other tools take a name or a number after the level: two further arguments are passed on, whether
 * they are there or not. */
#define PCONTROL(prefix)                                                                           \
  MQR_EXPORTED int prefix##Pcontrol(const int level, ...) {                                        \
    static mqr_any_function* next;                                                                 \
    MQR_CALL(call);                                                                                \
    va_list more;                                                                                  \
    va_start(more, level);                                                                         \
    void* const first = va_arg(more, void*);                                                       \
    void* const second = va_arg(more, void*);                                                      \
    va_end(more);                                                                                  \
    const int outermost = mqr_begins(&call, &next, #prefix "Pcontrol",                             \
                                     __builtin_return_address(0), __builtin_frame_address(0));     \
    if (outermost)                                                                                 \
      control(level);                                                                              \
    const int result = ((Pcontrol_function*)call.next)(level, first, second);                      \
    if (outermost)                                                                                 \
      mqr_ends(&call);                                                                             \
    return result;                                                                                 \
  }
PCONTROL(MPI_)
PCONTROL(PMPI_)
