/* Ways to die. */

#include "tests/mqs/hostile/hostile.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int zero;

static void segv(void) {
  *(volatile int*)(long)zero = 1;
}

static void segv_in_a_wild_place(void) {
  *(volatile int*)(0x7f0000000000L + zero) = 1;
}

static void fpe(void) {
  zero = now.code / zero + 1000 / zero;
}

static void ill(void) {
  __builtin_trap();
}

static void bus(void) {
  raise(SIGBUS);
}

static int deeper(volatile int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return deeper(depth + 1) + frame[0];
}

static void stack_overflow(void) {
  zero = deeper(0);
}

static void jump_to_a_wild_place(void) {
  void (*volatile function)(void) = (void (*)(void))(0x1000L + zero);
  function();
}

static void execute_data(void) {
  static char code[16] = "\xc3";
  void (*volatile function)(void) = (void (*)(void))(long)code;
  function();
}

/* The function that it returns to has ended long ago. */
static jmp_buf gone;
static __attribute__((noinline)) void remember(void) {
  if (setjmp(gone) != 0)
    abort();
}
static void jump_back(void) {
  remember();
  longjmp(gone, 1);
}

static void smash_the_stack(void) {
  volatile char room[8];
  memset((char*)room, 0x41 + zero, 4096);
}

/* Into memory that is the host program's. */
static void write_to_code(void) {
  *(volatile char*)(long)now.host->mqs_malloc_fp = 0;
}

static void write_to_callback_table(void) {
  *(volatile mqs_malloc_ft*)(long)&now.host->mqs_malloc_fp = NULL;
}

static void free_twice(void) {
  void* room = now.host->mqs_malloc_fp(24);
  now.host->mqs_free_fp(room);
  now.host->mqs_free_fp(room);
}

static void free_what_is_not(void) {
  now.host->mqs_free_fp((void*)0x1000L);
}

static void free_a_part(void) {
  now.host->mqs_free_fp((char*)now.host->mqs_malloc_fp(64) + 8);
}

/* Seen by malloc sooner or later. */
static void write_behind_what_was_allocated(void) {
  char* room = now.host->mqs_malloc_fp(64);
  memset(room, 0xff, 8192);
  for (int i = 0; i < 64; ++i)
    now.host->mqs_free_fp(now.host->mqs_malloc_fp((size_t)i * 64));
}

static void exit_0(void) {
  exit(0);
}

static void exit_at_once(void) {
  _exit(0);
}

static void exit_into_a_loop(void) {
  destructor_loops = 1;
  exit(0);
}

static void stop(void) {
  raise(SIGSTOP);
}

static void kill_itself(void) {
  raise(SIGKILL);
}

static void terminate_itself(void) {
  raise(SIGTERM);
}

const struct evil crashes[] = {
    {"segv", segv},
    {"segv_in_a_wild_place", segv_in_a_wild_place},
    {"fpe", fpe},
    {"abrt", abort},
    {"ill", ill},
    {"bus", bus},
    {"stack_overflow", stack_overflow},
    {"jump_to_a_wild_place", jump_to_a_wild_place},
    {"execute_data", execute_data},
    {"jump_back", jump_back},
    {"smash_the_stack", smash_the_stack},
    {"write_to_code", write_to_code},
    {"write_to_callback_table", write_to_callback_table},
    {"free_twice", free_twice},
    {"free_what_is_not", free_what_is_not},
    {"free_a_part", free_a_part},
    {"write_behind_what_was_allocated", write_behind_what_was_allocated},
    {"exit_0", exit_0},
    {"exit_at_once", exit_at_once},
    {"exit_into_a_loop", exit_into_a_loop},
    {"stop", stop},
    {"kill_itself", kill_itself},
    {"terminate_itself", terminate_itself},
    {NULL, NULL},
};
