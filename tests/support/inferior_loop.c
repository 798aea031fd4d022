// Something to attach to: sleeps and wakes, so that its context switches show whether it runs.

#include <threads.h>
#include <time.h>

int main(void) {
  const struct timespec nap = {0, 1000000};
  for (;;)
    thrd_sleep(&nap, 0);
}
