/* waiting_stacks THREADS: that many threads, all of which wait in a system call for ever:
     the main thread in pause(), with a megabyte on its stack;
     the second one in a sleep, which a stop begins anew as another call;
     the third one in pause(), on a stack of its own in the heap;
     all others in pause().
   Says "ready" before the last one waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static void* wait_for_ever(void* unused) {
  (void)unused;
  for (;;)
    pause();
  return NULL;
}

static void* sleep_for_ever(void* unused) {
  (void)unused;
  for (;;) {
    const struct timespec long_time = {100000, 0};
    nanosleep(&long_time, NULL);
  }
  return NULL;
}

static void wait_in_context(void) {
  wait_for_ever(NULL);
}

static void* wait_on_heap(void* unused) {
  static ucontext_t own;
  static ucontext_t back;
  const size_t size = 1 << 16;
  getcontext(&own);
  own.uc_stack.ss_sp = malloc(size);
  own.uc_stack.ss_size = size;
  own.uc_link = &back;
  makecontext(&own, wait_in_context, 0);
  swapcontext(&back, &own);
  return unused;
}

__attribute__((noinline)) static int wait_deep(int first) {
  volatile char deep[1 << 20];
  for (size_t i = 0; i < sizeof deep; i += 8)
    deep[i] = (char)(first + (int)(i / 64));
  puts("ready");
  fflush(stdout);
  wait_for_ever(NULL);
  return deep[first];
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 3;
  for (int i = 1; i < threads; ++i) {
    pthread_t thread;
    void* (*body)(void*) = i == 1 ? sleep_for_ever : i == 2 ? wait_on_heap : wait_for_ever;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
      return 1;
  }
  return wait_deep(count);
}
