// A process of no known MPI that names a debug DLL of the caller's choice.
//   names_dll DIRECTORY NAME [endless]
// endless: the name is repeated to the end of its array, which then has no NUL.

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

char MPIR_dll_name[512];

int main(int argc, char** argv) {
  if (argc < 3 || argv[2][0] == '\0') {
    fprintf(stderr, "usage: names_dll DIRECTORY NAME [endless]\n");
    return 2;
  }
  const size_t length = strlen(argv[2]);
  const size_t end = argc > 3 ? sizeof MPIR_dll_name : length;
  for (size_t i = 0; i < end && i < sizeof MPIR_dll_name; ++i)
    MPIR_dll_name[i] = argv[2][i % length];
  volatile unsigned long* heartbeat = job_heartbeat(argv[1], 0);
  job_ready(argv[1], 0);
  while (!job_may_go(argv[1])) {
    ++*heartbeat;
    usleep(1000);
  }
  job_finished(argv[1], 0);
  return 0;
}
