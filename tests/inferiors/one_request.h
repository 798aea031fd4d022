#pragma once

#include <mpi.h>

/// A call that waits for one request on MPI_COMM_WORLD.
struct blocking_call {
  const char* name;  ///< "MPI_Recv"
  const char* queue; ///< of its operation: "send" or "receive"
  int peer;
  int tag;
  int length; ///< bytes
  void* buffer;
  MPI_Request request; ///< MPI_Wait: what begin() began
};

/// Begins the operation that MPI_Wait is to wait for.
void begin(struct blocking_call* call);
/// Makes the call, in C or in Fortran. It does not return.
void block_in(const struct blocking_call* call);
