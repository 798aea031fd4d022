#pragma once

// What a program says of its own MPI calls, for whoever compares call stacks with it.

/// From now on SAID() writes into DIRECTORY/call.RANK. `directory` outlives its use.
void call_log_in(const char* directory, int rank);

/// Adds the line "FUNCTION FILE:LINE" to that file: this thread is about to call `call`, of which
/// the name of the function is taken. Any thread; makes no MPI call.
void call_log(const char* call, const char* file, int line);

/// Makes a call, and says so before. On one line of the source, whatever its layout.
#define SAID(...)                                                                                  \
  do {                                                                                             \
    call_log(#__VA_ARGS__, __FILE__, __builtin_LINE());                                            \
    __VA_ARGS__;                                                                                   \
  } while (0)
