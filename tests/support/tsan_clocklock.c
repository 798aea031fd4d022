// The TSan of GCC 12 does not know pthread_mutex_clocklock, with which std::timed_mutex waits: it
// would take the mutex for not locked. This one locks with a call that it knows.

#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* end) {
  const long long second = 1000000000;
  struct timespec now;
  struct timespec wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  const long long left = (end->tv_sec - now.tv_sec) * second + end->tv_nsec - now.tv_nsec;
  const long long wall_end = wall.tv_sec * second + wall.tv_nsec + (left > 0 ? left : 0);
  const struct timespec until = {wall_end / second, wall_end % second};
  return pthread_mutex_timedlock(mutex, &until);
}
