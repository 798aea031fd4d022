#include "tests/inferiors/call_log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* directory;
static int rank;

void call_log_in(const char* in, int of) {
  directory = in;
  rank = of;
}

void call_log(const char* call, const char* file, int line) {
  char path[PATH_MAX];
  char text[PATH_MAX];
  snprintf(path, sizeof path, "%s/call.%d", directory, rank);
  const int size =
      snprintf(text, sizeof text, "%.*s %s:%d\n", (int)strcspn(call, "("), call, file, line);
  const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0 || write(log, text, (size_t)size) != size) {
    perror(path);
    exit(3);
  }
  close(log);
}
