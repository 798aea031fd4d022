#include "bench/delaying_link/on_time.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

namespace mqbridge::bench {

void be_on_time() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const sched_param least{sched_get_priority_min(SCHED_FIFO)};
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &least);
}

} // namespace mqbridge::bench
