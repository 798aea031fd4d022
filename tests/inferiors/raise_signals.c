/* Raises SIGUSR2 and then SIGUSR1 at itself, and says how often each has come:
     raise_signals DELAY-MS [ignore|nothing]
   "before USR2=0 USR1=0", "after USR2=1 USR1=1", then ends with status 7. With "nothing" it raises
   none, with "ignore" SIGUSR1 is ignored. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t usr1;
static volatile sig_atomic_t usr2;

static void on_signal(int number) {
  if (number == SIGUSR1)
    usr1 = usr1 + 1;
  else
    usr2 = usr2 + 1;
}

static void say(const char* when) {
  printf("%s USR2=%d USR1=%d\n", when, (int)usr2, (int)usr1);
  fflush(stdout);
}

static void pause_ms(long milliseconds) {
  struct timespec rest = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

int main(int argc, char** argv) {
  const long delay = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  const char* how = argc > 2 ? argv[2] : "";
  signal(SIGUSR1, strcmp(how, "ignore") == 0 ? SIG_IGN : on_signal);
  signal(SIGUSR2, on_signal);
  say("before");
  pause_ms(delay);
  if (strcmp(how, "nothing") != 0) {
    raise(SIGUSR2);
    raise(SIGUSR1);
  }
  say("after");
  return 7;
}
