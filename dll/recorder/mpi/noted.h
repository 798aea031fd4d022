#ifndef MQBRIDGE_DLL_RECORDER_MPI_NOTED_H
#define MQBRIDGE_DLL_RECORDER_MPI_NOTED_H

/* Calls that change the facts about a handle, and neither send nor wait. Unlike the calls of call.h
 * they are noted within a recorded call as well: the program's callbacks (attributes' copy and
 * delete functions, error handlers) may make them. Through another tool one call may come twice:
 * noting it twice is as good as once. */

#include "dll/recorder/mpi/call.h"

#define MQR_DEFINE_NOTED(prefix, name, parameters, arguments)                                      \
  MQR_EXPORTED int prefix##name parameters {                                                       \
    static mqr_any_function* cache;                                                                \
    name##_function* next = (name##_function*)__atomic_load_n(&cache, __ATOMIC_RELAXED);           \
    if (__builtin_expect(next == NULL, 0))                                                         \
      next = (name##_function*)mqr_resolve(&cache, #prefix #name, __builtin_return_address(0));    \
    if (!__atomic_load_n(&mqr_active, __ATOMIC_RELAXED))                                           \
      return next arguments;                                                                       \
    return note_##name(next, MQR_UNPACK arguments);                                                \
  }

/* MQR_NOTED(name, (parameters), (arguments)) defines MPI_name and PMPI_name. They call
 * note_name(next, arguments...), which is defined after this, and makes the call itself by
 * next(arguments...). */
#define MQR_NOTED(name, parameters, arguments)                                                     \
  typedef int name##_function parameters;                                                          \
  static int note_##name(name##_function* next, MQR_UNPACK parameters);                            \
  MQR_DEFINE_NOTED(MPI_, name, parameters, arguments)                                              \
  MQR_DEFINE_NOTED(PMPI_, name, parameters, arguments)

#endif
