#ifndef MQBRIDGE_DLL_RECORDER_MPI_CALL_H
#define MQBRIDGE_DLL_RECORDER_MPI_CALL_H

/* How the recorder gets between a program and its MPI.
 *
 * It defines both names of a function, MPI_Send and PMPI_Send, and each calls the next definition
 * of the same name: another tool's, or MPI's. Calls that come in while their thread is in a
 * recorded call (from tools below, bindings of other languages, MPI itself) are only passed on: so
 * each call of the program is recorded once, whatever stands before or behind the recorder. Calls
 * of the program's callbacks (error handlers, attributes) are not recorded either, and leave a gap
 * if they send or receive. */

#include "dll/recorder/mpi/library.h"
#include "dll/recorder/mpi/variables.h"
#include "dll/recorder/recorder.h"

/* Two calls by one function have frames whose distance is the arguments on the stack: less than
 * this. */
enum { MQR_SIBLINGS = 128 };

/* One of the program's calls, in the frame of its wrapper. */
struct mqr_call {
  mqr_any_function* next;  /* what the program called, below the recorder */
  const void* site;        /* where it returns to */
  int recorded;            /* it has begun, and not ended */
  char room[MQR_SIBLINGS]; /* a call within this one is further away than a sibling is */
};

/* The recorder's state of a thread. */
struct mqr_here {
  const void* outermost;  /* the frame of the recorded call that it is in; NULL: in none */
  const void* site;       /* where that one returns to */
  int jumped;             /* it has called longjmp() in there */
  int in_errhandler_call; /* errhandlers.h */
};
/* This model avoids a call of __tls_get_addr: the recorder is loaded with the program. */
extern _Thread_local struct mqr_here mqr_here __attribute__((tls_model("initial-exec")));

/* Whether calls are recorded at all: from the end of MPI_Init to that of MPI_Finalize. */
extern int mqr_active;

/* The slow halves of mqr_begins(). */
mqr_any_function* mqr_resolve(mqr_any_function** cache, const char* name, const void* site);
void mqr_left_by_a_jump(void);
void mqr_called_within(const char* name, const void* site);

/* Whether this call, an MQR_CALL(), is to be recorded: fills it in in any case. Each call that is
 * recorded ends with mqr_ends(). */
static inline int mqr_begins(struct mqr_call* call, mqr_any_function** cache, const char* name,
                             const void* site, const void* frame) {
  call->next = __atomic_load_n(cache, __ATOMIC_RELAXED);
  call->site = site;
  if (__builtin_expect(call->next == NULL, 0))
    call->next = mqr_resolve(cache, name, site);
  if (!__atomic_load_n(&mqr_active, __ATOMIC_RELAXED))
    return 0;
  /* An error handler may have left the last call by longjmp(). The stack grows down. */
  if (mqr_here.outermost != NULL) {
    if (!mqr_here.jumped && (uintptr_t)frame + MQR_SIBLINGS < (uintptr_t)mqr_here.outermost) {
      mqr_called_within(name, site);
      return 0;
    }
    mqr_left_by_a_jump();
  }
  mqr_here.outermost = frame;
  mqr_here.site = site;
  call->recorded = 1;
  return 1;
}
static inline void mqr_ends(struct mqr_call* call) {
  call->recorded = 0;
  mqr_here.outermost = NULL;
  mqr_here.jumped = 0;
}

/* Runs when a C++ exception of an error handler, or the end of its thread, leaves the call:
 * compiled with -fexceptions. */
static inline void mqr_unwound(struct mqr_call* call) {
  if (__builtin_expect(call->recorded, 0)) {
    mqr_left_by_a_jump();
    mqr_ends(call);
  }
}
/* Declares a call that has not begun. An initializer would clear its room, too, in every call. */
#define MQR_CALL(name)                                                                             \
  struct mqr_call name __attribute__((cleanup(mqr_unwound)));                                      \
  name.recorded = 0

#define MQR_UNPACK(...) __VA_ARGS__

/* MPI 4 has a second variant of each function with counts, for large ones: MPI_Send_c. A file that
 * has such functions is compiled a second time, with MQR_LARGE. */
#ifdef MQR_LARGE
typedef MPI_Count mqr_count;
typedef MPI_Aint mqr_displacement;
#define MQR_RECORDED(name, parameters, arguments)                                                  \
  MQR_RECORDED_AS(name, name##_c, parameters, arguments)
#else
typedef int mqr_count;
typedef int mqr_displacement;
#define MQR_RECORDED(name, parameters, arguments) MQR_RECORDED_AS(name, name, parameters, arguments)
#endif

#define MQR_DEFINE(prefix, name, called, parameters, arguments)                                    \
  MQR_EXPORTED int prefix##called parameters {                                                     \
    static mqr_any_function* next;                                                                 \
    MQR_CALL(call);                                                                                \
    if (!mqr_begins(&call, &next, #prefix #called, __builtin_return_address(0),                    \
                    __builtin_frame_address(0)))                                                   \
      return ((name##_function*)call.next)arguments;                                               \
    const int result = record_##name(&call, MQR_UNPACK arguments);                                 \
    mqr_ends(&call);                                                                               \
    return result;                                                                                 \
  }

/* MQR_RECORDED(name, (parameters), (arguments)) defines MPI_name and PMPI_name. They call
 * record_name(call, arguments...), which is defined after this, makes the call itself by
 * MQR_NEXT(name)(arguments...), and records it. */
#define MQR_RECORDED_AS(name, called, parameters, arguments)                                       \
  typedef int name##_function parameters;                                                          \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters);                    \
  MQR_DEFINE(MPI_, name, called, parameters, arguments)                                            \
  MQR_DEFINE(PMPI_, name, called, parameters, arguments)
#define MQR_NEXT(name) ((name##_function*)call->next)

/* For calls that are on no communicator, and are no collectives. */
static inline void mqr_enter_plain(const struct mqr_call* call, enum mqr_function function) {
  const struct mqr_call_spec spec = {.function = function, .site = call->site, .root = MQR_NO_ROOT};
  mqr_enter(&spec);
  mqr_sample_in(function);
}

#endif
