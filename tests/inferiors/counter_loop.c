// No MPI at all: counts in DIRECTORY/heartbeat.0 until the test says go.
//   counter_loop DIRECTORY

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: counter_loop DIRECTORY\n");
    return 2;
  }
  volatile unsigned long* heartbeat = job_heartbeat(argv[1], 0);
  job_ready(argv[1], 0);
  while (!job_may_go(argv[1])) {
    ++*heartbeat;
    usleep(1000);
  }
  job_finished(argv[1], 0);
  return 0;
}
