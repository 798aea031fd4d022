/* A process whose main thread takes signals late, since it waits for children of vfork() all the time,
   and whose other thread is hit by signals meanwhile: whoever attaches sees the other thread stop by a
   signal of its own before the main thread has stopped. Runs until it is killed. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void take(int number) {
  (void)number;
}

static void rest(long microseconds) {
  const struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

static void* signals_itself(void* unused) {
  (void)unused;
  for (;;) {
    kill(getpid(), SIGUSR1);
    rest(200);
  }
  return NULL;
}

int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const struct sigaction action = {.sa_handler = take};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t other;
  pthread_create(&other, NULL, signals_itself, NULL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &only, NULL);
  for (;;) {
    const pid_t child = vfork();
    if (child == 0) {
      rest(20000);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}
