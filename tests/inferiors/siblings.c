/* Processes that are alike but for one value at one address, as the ranks of a job are:
     siblings COUNT
   Says "PID ADDRESS VALUE" of each of COUNT children, in hexadecimal but for the PID; then all
   sleep and wake until the parent is killed. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile uint32_t value;

static void sleep_and_wake(void) {
  const struct timespec nap = {0, 1000000};
  for (;;)
    nanosleep(&nap, NULL);
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
  for (long i = 0; i < count; ++i) {
    value = 0x51b10000U + (uint32_t)i;
    const pid_t child = fork();
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      sleep_and_wake();
    }
    printf("%ld %lx %x\n", (long)child, (unsigned long)(uintptr_t)&value, (unsigned)value);
  }
  fflush(stdout);
  sleep_and_wake();
}
