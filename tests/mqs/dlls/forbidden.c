// Debug DLLs that try what the sandbox is there for, one thing at a time: ATTEMPT says what, and
// ATTEMPT_WHEN when, as the library is loaded or later. What succeeds is said on stdout. For the
// rest they are the PLAIN one of behaviour.c.

#define BEHAVIOUR PLAIN
#define mqs_process_has_queues plain_process_has_queues
#include "tests/mqs/dlls/behaviour.c"
#undef mqs_process_has_queues

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

enum when { CONSTRUCTOR, LATER };
enum attempt {
  OPENS_FOR_WRITING,
  CREATES_A_FILE,
  TRUNCATES,
  REMOVES_A_FILE,
  CONNECTS,
  EXECUTES,
  FORKS_AWAY,
  STARTS_A_THREAD,
  TRACES_PARENT,
  KILLS_PARENT,
  READS_PARENT_BY_CALL,
  READS_PARENT_BY_FILE,
  OPENS_A_FILE,
  MAKES_CODE,
  TAKES_SIGSYS,
  DISARMS_SIGSYS,
  ALLOCATES_WITHOUT_END,
  RECURSES_WITHOUT_END,
  IS_HARMLESS,
};

static const char victim[] = "/proc/self/coredump_filter"; // its owner may write to it

static void* nothing(void* of) {
  return of;
}

static void say(const char* what, long result) {
  if (result >= 0)
    printf("%s\n", what);
  else
    printf("not %s: %s\n", what, strerror(errno));
  fflush(stdout);
}

static void start_a_thread(void) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, nothing, NULL);
  say("started", errno == 0 ? 0 : -1);
}

static void connect_somewhere(void) {
  say("connected", socket(AF_INET, SOCK_STREAM, 0));
}

static void execute(void) {
  char* arguments[] = {"/bin/true", NULL};
  say("executed", execv(arguments[0], arguments));
}

static void read_parent_by_call(void) {
  char byte;
  struct iovec here = {&byte, 1};
  struct iovec there = {(void*)0x1000, 1};
  say("read", process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}

static void read_parent_by_file(void) {
  int parent = 0;
  FILE* self = fopen("/proc/self/stat", "r");
  if (self == NULL || fscanf(self, "%*d (%*[^)]) %*c %d", &parent) != 1)
    abort();
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/mem", parent);
  say("parent's memory open", open(name, O_RDONLY));
}

static void make_code(void) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  say("executable", mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static void ignore(int signal_number) {
  (void)signal_number;
}

/// Its own handler, or none at all: what is forbidden stays so.
static void disarm(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  say("connected", socket(AF_INET, SOCK_STREAM, 0));
}

static void allocate_without_end(void) {
  for (;;)
    memset(host->mqs_malloc_fp(1 << 20), 1, 1 << 20);
}

static int recurse_without_end(volatile int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  if (zero != 0)
    return 0;
  return recurse_without_end(depth + 1) + frame[0];
}

static int compare(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

/// What a library may do without a thought, in terms of glibc.
static void be_harmless(void) {
  enum { numbers = 1 << 20 };
  int* array = malloc(numbers * sizeof *array);
  for (int i = 0; i < numbers; ++i)
    array[i] = numbers - i;
  qsort(array, numbers, sizeof *array, compare);
  array = realloc(array, 64U << 20);
  free(array);
  const time_t now = time(NULL);
  struct timespec moment = {0, 1000};
  nanosleep(&moment, NULL);
  struct stat about;
  const int known = fstat(STDOUT_FILENO, &about);
  printf("%d %d %d %d\n", now > 0, isatty(STDOUT_FILENO), getpid() > 0, known <= 0);
  fprintf(stderr, "%ld\n", sysconf(_SC_PAGESIZE));
}

static void attempt(void) {
  switch (ATTEMPT) {
  case OPENS_FOR_WRITING:
    return say("opened", open(victim, O_RDWR));
  case CREATES_A_FILE:
    return say("created", open("mqbridge-sandbox-test", O_RDONLY | O_CREAT, 0600));
  case TRUNCATES:
    return say("truncated", open(victim, O_RDONLY | O_TRUNC));
  case REMOVES_A_FILE:
    return say("removed", unlink("/nonexistent/file"));
  case CONNECTS:
    return connect_somewhere();
  case EXECUTES:
    return execute();
  case FORKS_AWAY:
    return say("forked", fork());
  case STARTS_A_THREAD:
    return start_a_thread();
  case TRACES_PARENT:
    return say("traced", ptrace(PTRACE_SEIZE, getppid(), 0, 0));
  case KILLS_PARENT:
    return say("killed", kill(getppid(), 0));
  case READS_PARENT_BY_CALL:
    return read_parent_by_call();
  case READS_PARENT_BY_FILE:
    return read_parent_by_file();
  case OPENS_A_FILE:
    return say("opened", open("/dev/null", O_RDONLY));
  case MAKES_CODE:
    return make_code();
  case TAKES_SIGSYS:
    signal(SIGSYS, ignore);
    return connect_somewhere();
  case DISARMS_SIGSYS:
    return disarm();
  case ALLOCATES_WITHOUT_END:
    return allocate_without_end();
  case RECURSES_WITHOUT_END:
    zero += recurse_without_end(0);
    return;
  case IS_HARMLESS:
    return be_harmless();
  }
}

__attribute__((constructor)) static void attempt_at_once(void) {
  if (ATTEMPT_WHEN == CONSTRUCTOR)
    attempt();
}

int mqs_process_has_queues(mqs_process* process, char** message) {
  if (ATTEMPT_WHEN == LATER)
    attempt();
  return plain_process_has_queues(process, message);
}
