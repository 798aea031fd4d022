// Keeps its own receive requests out of core files, as programs do with secrets and huge buffers.
//   hidden_requests DIRECTORY

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { receives = 3 };

/// The pages of a request, which is a pointer in Open MPI.
static int hide(MPI_Request request) {
  const uintptr_t page = 4096;
  const uintptr_t start = (uintptr_t)request / page * page;
  return madvise((void*)start, page, MADV_DONTDUMP);
}

int main(int argc, char** argv) {
  static int buffers[receives];
  MPI_Request requests[receives];
  if (argc != 2)
    return 2;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < receives; ++i)
    MPI_Irecv(&buffers[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < receives; ++i) {
    if (hide(requests[i]) != 0) {
      perror("madvise");
      return 1;
    }
  }
  job_ready(argv[1], 0);
  job_wait_for_go(argv[1]);
  for (int i = 0; i < receives; ++i) {
    MPI_Cancel(&requests[i]);
    MPI_Request_free(&requests[i]);
  }
  MPI_Finalize();
  job_finished(argv[1], 0);
  return 0;
}
