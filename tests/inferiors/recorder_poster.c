// recorder_poster DIRECTORY WORLD_RANK [signal]
//
// Fills the recorder, writes DIRECTORY/oracle.0, says that it is ready, and waits for `go`; with
// `signal` it raises SIGUSR1 when it is ready, and then comes to its end: for stubs that start a
// process and hold it at its entry. Files are numbered 0 whatever the rank: one process, one
// directory.

#include "dll/recorder/dll_name.h"
#include "dll/recorder/recorder.h"
#include "tests/inferiors/job_files.h"
#include "tests/inferiors/recorder_scene.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void nothing(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: recorder_poster DIRECTORY WORLD_RANK [signal]\n");
    return 2;
  }
  const char* const directory = argv[1];
  // A debugger that lets go may pass the signal on.
  const struct sigaction action = {.sa_handler = nothing};
  if (sigaction(SIGUSR1, &action, NULL) != 0 || mqr_init(NULL) != MQR_OK)
    return 8;
  FILE* const oracle = job_open(directory, "oracle", 0);
  scene_build(atoi(argv[2]), oracle);
  if (fclose(oracle) != 0)
    return 8;
  job_ready(directory, 0);
  if (argc > 3 && strcmp(argv[3], "signal") == 0)
    raise(SIGUSR1);
  else
    job_wait_for_go(directory);
  job_finished(directory, 0);
  return 0;
}
