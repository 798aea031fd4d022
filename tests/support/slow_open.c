// open(2) as on a slow file system: paths that have a text of the environment in them take the time
// that stands before it. SLOW_OPEN="1500 /cache/" delays "/home/me/cache/x" by 1.5 s;
// SLOW_OPEN_TIMES=1 only the first time. For LD_PRELOAD, and for linking into a test.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void delay(const char* path) {
  const char* const setting = getenv("SLOW_OPEN");
  char* text = NULL;
  const long milliseconds = setting ? strtol(setting, &text, 10) : 0;
  if (milliseconds <= 0 || *text != ' ' || !strstr(path, text + 1))
    return;
  static atomic_long count;
  const char* const times = getenv("SLOW_OPEN_TIMES");
  if (times && atomic_fetch_add(&count, 1) >= atol(times))
    return;
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static int open_late(const char* path, int flags, mode_t mode) {
  delay(path);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(name)                                                                                 \
  int name(const char* path, int flags, ...) {                                                     \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;                \
    va_end(more);                                                                                  \
    return open_late(path, flags, mode);                                                           \
  }

OPEN(open)
OPEN(open64)
