// Says what stands where in its own memory, and waits for the signal that ends it: what
// real_core_test.cpp compares with the core. A line for each place: NAME ADDRESS BYTES.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { shown = 16, page = 65536 };

static char written_data[shown] = "before";
static char untouched_zeros[4 * page];
static const char constant_text[shown] = "constant text";
/// Written by the dynamic linker, and read-only from then on.
static const char* const relocated[] = {constant_text, constant_text};

static void show(const char* name, const void* at) {
  const unsigned char* bytes = at;
  printf("%s %p ", name, at);
  for (int i = 0; i < shown; ++i)
    printf("%02x", bytes[i]);
  printf("\n");
}

static char* map(int flags, const char* text) {
  char* at = mmap(NULL, page, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    exit(2);
  strcpy(at, text);
  return at;
}

static void* second_thread(void* ready) {
  printf("thread %ld\n", (long)syscall(SYS_gettid));
  pthread_barrier_wait(ready);
  for (;;)
    pause();
}

int main(void) {
  char on_stack[shown] = "on the stack";
  char* on_heap = calloc(1, shown);
  strcpy(on_heap, "on the heap");
  strcpy(written_data, "written");
  char* left_out = map(MAP_PRIVATE, "left out");
  madvise(left_out, page, MADV_DONTDUMP);

  pthread_barrier_t ready;
  pthread_barrier_init(&ready, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, second_thread, &ready);
  pthread_barrier_wait(&ready);

  if (BUILD == 2)
    printf("another build\n");
  printf("thread %ld\n", (long)getpid());
  show("data", written_data);
  show("zeros", untouched_zeros + page);
  show("heap", on_heap);
  show("stack", on_stack);
  show("shared", map(MAP_SHARED, "shared"));
  show("relocated", relocated);
  show("constant", constant_text);
  show("code", (const void*)(size_t)main);
  show("left_out", left_out);
  printf("ready\n");
  fflush(stdout);
  for (;;)
    pause();
}
