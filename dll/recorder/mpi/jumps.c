/* longjmp() by its names. Whoever calls it within a recorded call has most likely left that call:
 * the thread's next call is then taken for one of the program's, and readers are told of a gap. */

#include "dll/recorder/mpi/call.h"

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

/* Before a signal handler jumps: looking up is nothing for those. */
__attribute__((constructor)) static void find_jumps(void) {
  next_longjmp = (jump_function*)mqr_find_function("longjmp", NULL);
  next__longjmp = (jump_function*)mqr_find_function("_longjmp", NULL);
  next_siglongjmp = (jump_function*)mqr_find_function("siglongjmp", NULL);
  next___longjmp_chk = (jump_function*)mqr_find_function("__longjmp_chk", NULL);
}
