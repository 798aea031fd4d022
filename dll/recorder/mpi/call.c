#include "dll/recorder/mpi/call.h"

#include <dlfcn.h>
#include <string.h>

_Thread_local struct mqr_here mqr_here;
int mqr_active;

/* Stands for a function that no library behind the recorder has. */
static int missing_function(void) {
  return MPI_ERR_OTHER;
}

mqr_any_function* mqr_resolve(mqr_any_function** cache, const char* name, const void* site) {
  mqr_any_function* found = mqr_find_function(name, site);
  if (found == NULL)
    return (mqr_any_function*)missing_function; /* until an MPI is loaded */
  __atomic_store_n(cache, found, __ATOMIC_RELAXED);
  return found;
}

void mqr_left_by_a_jump(void) {
  mqr_here.jumped = 0;
  mqr_variables_left_by_a_jump();
  mqr_leave();
  mqr_note_gap(); /* nobody knows how the call that it had begun went on */
}

static const void* object_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Whether the call only makes or frees objects that are no messages: callbacks may do so without a
 * gap. */
static int makes_no_message(const char* name) {
  const char* const behind = strchr(name, '_') + 1;
  return strncmp(behind, "Comm_", 5) == 0 || strncmp(behind, "Type_", 5) == 0 ||
         strncmp(behind, "Win_", 4) == 0;
}

/* Notes a call within a recorded one. MPI and tools call from objects of their own; callbacks of
 * the program call from the program's objects. */
void mqr_called_within(const char* name, const void* site) {
  static _Thread_local const void* others[8][2]; /* pairs of sites that were looked at */
  const void** const known = others[(uintptr_t)site / 4 % 8];
  if ((known[0] == site && known[1] == mqr_here.site) || makes_no_message(name))
    return;
  const void* const caller = object_of(site);
  void* mpi = NULL;
  memcpy(&mpi, &mqr_mpi.Isend, sizeof mpi);
  if (caller != NULL && caller == object_of(mqr_here.site) && caller != object_of(mpi)) {
    mqr_note_gap();
  } else {
    known[0] = site;
    known[1] = mqr_here.site;
  }
}

/* longjmp() by its names. A thread that calls it within a recorded call has most likely left that
 * call: the thread's next call is then taken for one of the program's, and readers are told of a
 * gap. */
typedef void jump_function(void* environment, int value);

#define JUMP(name)                                                                                 \
  static jump_function* next_##name;                                                               \
  MQR_EXPORTED _Noreturn void name(void* environment, int value);                                  \
  void name(void* environment, int value) {                                                        \
    if (next_##name == NULL)                                                                       \
      next_##name = (jump_function*)mqr_find_function(#name, __builtin_return_address(0));         \
    mqr_here.jumped = mqr_here.outermost != NULL;                                                  \
    mqr_here.in_errhandler_call = 0;                                                               \
    next_##name(environment, value);                                                               \
    __builtin_unreachable();                                                                       \
  }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/* Looks the functions up before a signal handler may jump: a handler must not do so itself. */
__attribute__((constructor)) static void find_jumps(void) {
  next_longjmp = (jump_function*)mqr_find_function("longjmp", NULL);
  next__longjmp = (jump_function*)mqr_find_function("_longjmp", NULL);
  next_siglongjmp = (jump_function*)mqr_find_function("siglongjmp", NULL);
  next___longjmp_chk = (jump_function*)mqr_find_function("__longjmp_chk", NULL);
}
