#include "tests/inferiors/job_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void fail(const char* what, const char* path) {
  fprintf(stderr, "%s ", what);
  perror(path);
  exit(8);
}

static void path_of(char* path, const char* directory, const char* name, int rank) {
  snprintf(path, PATH_MAX, "%s/%s.%d", directory, name, rank);
}

FILE* job_open(const char* directory, const char* name, int rank) {
  char path[PATH_MAX];
  path_of(path, directory, name, rank);
  FILE* file = fopen(path, "w");
  if (!file)
    fail("open", path);
  return file;
}

void job_ready(const char* directory, int rank) {
  char path[PATH_MAX];
  FILE* file = job_open(directory, "ready-partial", rank);
  fprintf(file, "%ld\n", (long)getpid());
  if (fclose(file) != 0)
    fail("write", directory);
  char partial[PATH_MAX];
  path_of(partial, directory, "ready-partial", rank);
  path_of(path, directory, "ready", rank);
  if (rename(partial, path) != 0)
    fail("rename", path);
}

static void end_if_forgotten(void) {
  static time_t started = 0;
  const char* const given = getenv("MQBRIDGE_JOB_LIFETIME");
  const long lifetime = given ? atol(given) : job_lifetime_seconds;
  const time_t now = time(NULL);
  if (started == 0)
    started = now;
  if (now - started > lifetime) {
    fprintf(stderr, "nobody said go in %ld seconds\n", lifetime);
    _exit(9);
  }
}

void job_await_ready(const char* directory, int rank) {
  char path[PATH_MAX];
  path_of(path, directory, "ready", rank);
  while (access(path, F_OK) != 0) {
    end_if_forgotten();
    usleep(10 * 1000);
  }
}

int job_may_go(const char* directory) {
  end_if_forgotten();
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/go", directory);
  return access(path, F_OK) == 0;
}

void job_wait_for_go(const char* directory) {
  while (!job_may_go(directory))
    usleep(10 * 1000);
}

void job_finished(const char* directory, int rank) {
  FILE* file = job_open(directory, "finished", rank);
  if (fclose(file) != 0)
    fail("write", directory);
}

volatile unsigned long* job_heartbeat(const char* directory, int rank) {
  char path[PATH_MAX];
  path_of(path, directory, "heartbeat", rank);
  const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(unsigned long)) != 0)
    fail("open", path);
  void* counter =
      mmap(NULL, sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (counter == MAP_FAILED)
    fail("map", path);
  close(descriptor);
  return counter;
}
