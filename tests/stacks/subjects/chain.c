// Calls that end in a core. Each function says its name and line before it calls the next one.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HERE() (printf("%s %d\n", __func__, __LINE__), fflush(stdout))
#define NOT_INLINED __attribute__((noinline, noclone))
#define INLINED static inline __attribute__((always_inline))
/// Keeps a call from being the last thing that its function does.
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

/// Read before a call and written behind it: the compiler keeps the value in a register over the
/// call.
static volatile unsigned long kept_by_outer = 0x2badcafe;
static volatile unsigned long kept_by_die = 0x1badcafe;

typedef void Work(void);
static Work* work;

NOT_INLINED static void innermost(void) {
  HERE(), work();
  AFTER_CALL();
}

INLINED void inlined_twice(void) {
  HERE(), innermost();
  AFTER_CALL();
}

INLINED void inlined(void) {
  HERE(), inlined_twice();
  AFTER_CALL();
}

NOT_INLINED static void outer(void) {
  volatile char room[3000]; // a page apart
  room[0] = 1;
  const unsigned long kept = kept_by_outer;
  HERE(), inlined();
  kept_by_outer = kept;
  AFTER_CALL();
}

NOT_INLINED static void die(void) {
  const unsigned long kept = kept_by_die;
  HERE(), raise(SIGABRT);
  kept_by_die = kept;
  AFTER_CALL();
}

static void handle(int number) {
  (void)number;
  HERE(), die();
  AFTER_CALL();
}

NOT_INLINED static void be_interrupted(void) {
  signal(SIGUSR1, handle);
  HERE(), raise(SIGUSR1);
  AFTER_CALL();
}

NOT_INLINED static void divide(void) {
  static volatile int* volatile nowhere = NULL;
  signal(SIGSEGV, handle);
  HERE(), *nowhere = 1;
  AFTER_CALL();
}

NOT_INLINED static void call_null(void) {
  Work* volatile nothing = NULL;
  HERE(), nothing();
  AFTER_CALL();
}

#ifdef __x86_64__
/// Writes over what its caller's frame is found by.
NOT_INLINED static void call_code_without_file(void) {
  // sub $8,%rsp; call *%rdi; add $8,%rsp; ret
  static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
  void* page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  HERE(), ((void (*)(Work*))page)(die);
  AFTER_CALL();
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void overwrite(void) {
  void** frame = __builtin_frame_address(0);
  frame[1] = (void*)0x4141414141;
  HERE(), die();
  AFTER_CALL();
}

NOT_INLINED static void* here(void) {
  return __builtin_return_address(0);
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void call_itself(void) {
  void** frame = __builtin_frame_address(0);
  frame[0] = frame;
  frame[1] = here();
  HERE(), die();
  AFTER_CALL();
}
#endif

static int depth;
NOT_INLINED static void descend(void) {
  if (--depth > 0)
    descend();
  else
    die();
  AFTER_CALL();
}

static pthread_mutex_t until_created = PTHREAD_MUTEX_INITIALIZER;

static void* run_thread(void* unused) {
  pthread_mutex_lock(&until_created);
  HERE(), outer();
  AFTER_CALL();
  return unused;
}

static void start_thread_and_wait(void) {
  pthread_t thread;
  pthread_mutex_lock(&until_created);
  pthread_create(&thread, NULL, run_thread, NULL);
  pthread_mutex_unlock(&until_created);
  pthread_join(thread, NULL);
  AFTER_CALL();
}

struct Kind {
  const char* name;
  Work* work;
};

int main(int count, char** arguments) {
  static const struct Kind kinds[] = {
      {"plain", die},
      {"thread", die},
      {"handler", be_interrupted},
      {"fault", divide},
      {"null", call_null},
      {"deep", descend},
#ifdef __x86_64__
      {"without_file", call_code_without_file},
      {"overwritten", overwrite},
      {"circle", call_itself},
#endif
  };
  const char* kind = count > 1 ? arguments[1] : "plain";
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
    if (strcmp(kinds[i].name, kind) == 0)
      work = kinds[i].work;
  depth = 3000;
  if (strcmp(kind, "thread") == 0)
    start_thread_and_wait();
  HERE(), outer();
  return 0;
}
