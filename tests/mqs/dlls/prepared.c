// Debug DLLs whose constructors prepare what is forbidden later, when files are closed and nothing
// becomes code any more: ATTEMPT says what. What succeeds is said on stdout. For the rest they are
// the PLAIN one of behaviour.c.

#define BEHAVIOUR PLAIN
#define mqs_process_has_queues plain_process_has_queues
#include "tests/mqs/dlls/behaviour.c"
#undef mqs_process_has_queues

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

enum attempt {
  ANSWERS_FOR_THE_KERNEL_BY_SECCOMP,
  ANSWERS_FOR_THE_KERNEL_BY_PRCTL,
  KEEPS_A_DESCRIPTOR,
  KEEPS_TWO_VIEWS_OF_MEMORY,
  KEEPS_A_SECOND_VIEW_OF_SHARED_MEMORY,
  KEEPS_SHARED_MEMORY_EXECUTABLE,
  MAKES_CODE,
  HANDLES_SIGSEGV,
  ASKS_FROM_ITS_CONSTRUCTOR,
  LEAVES_AS_IF_LOADED,
  LEAVES,
  STAYS,
};

enum { page_size = 4096, channel = 3, fetch_request = 7, loader_done = 64 };

static int kept = -1;
static char* writable;
static char* executable;
static int prepared;

static void say(const char* what, int succeeded) {
  if (succeeded)
    printf("%s\n", what);
  else
    printf("not %s: %s\n", what, strerror(errno));
  fflush(stdout);
}

/// From now on the next filter that somebody adds is none, and the call says that it is one.
static void answer_for_the_kernel(int by_prctl) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  const long result = by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                               : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  say("filtered", result == 0);
}

/// Written to at one address, executed at the other.
static void make_second_view(void) {
  executable = mremap(writable, 0, page_size, MREMAP_MAYMOVE);
  prepared =
      executable != MAP_FAILED && mprotect(executable, page_size, PROT_READ | PROT_EXEC) == 0;
  say("executable", prepared);
}

static void keep_two_views(void) {
  writable = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (writable != MAP_FAILED)
    make_second_view();
  else
    say("shared", 0);
}

/// The page that worker and parent share.
static char* shared_page(void) {
  char line[512];
  unsigned long start = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, " rw-s ") != NULL)
      start = strtoul(line, NULL, 16);
  return (char*)start; // left open: it is gone with the process
}

static void keep_second_view_of_shared_memory(void) {
  writable = shared_page();
  make_second_view();
}

static void make_code(void) {
  executable = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  say("executable", mprotect(executable, page_size, PROT_READ | PROT_EXEC) == 0);
}

static void notice(int number) {
  static const char noticed[] = "noticed\n";
  if (number == SIGSEGV && write(STDOUT_FILENO, noticed, sizeof noticed - 1) > 0)
    _exit(0);
}

/// What a walk asks of the parent (wire::Kind::fetch).
static void ask(void) {
  struct __attribute__((packed)) {
    unsigned char kind;
    unsigned long long address;
    unsigned size;
  } request = {fetch_request, 0x1000, 16};
  char reply[256];
  if (write(channel, &request, sizeof request) > 0)
    say("answered", read(channel, reply, sizeof reply) > 0);
}

static void stay(void) {
  const struct timespec moment = {0, 100 * 1000 * 1000};
  for (;;)
    nanosleep(&moment, NULL);
}

__attribute__((constructor)) static void prepare(void) {
  switch (ATTEMPT) {
  case ANSWERS_FOR_THE_KERNEL_BY_SECCOMP:
    return answer_for_the_kernel(0);
  case ANSWERS_FOR_THE_KERNEL_BY_PRCTL:
    return answer_for_the_kernel(1);
  case KEEPS_A_DESCRIPTOR:
    kept = open("/proc/self/maps", O_RDONLY);
    return;
  case KEEPS_TWO_VIEWS_OF_MEMORY:
    return keep_two_views();
  case KEEPS_A_SECOND_VIEW_OF_SHARED_MEMORY:
    return keep_second_view_of_shared_memory();
  case KEEPS_SHARED_MEMORY_EXECUTABLE:
    return say("executable", mprotect(shared_page(), page_size, PROT_READ | PROT_EXEC) == 0);
  case MAKES_CODE:
    return make_code();
  case HANDLES_SIGSEGV:
    signal(SIGSEGV, notice);
    return;
  case ASKS_FROM_ITS_CONSTRUCTOR:
    return ask();
  case LEAVES_AS_IF_LOADED:
    _exit(loader_done);
  case LEAVES:
    _exit(0);
  case STAYS:
    return stay();
  }
}

/// "return;", of x86-64.
static void run_code(void) {
  if (!prepared)
    return;
  *writable = (char)0xc3;
  void (*code)(void);
  memcpy(&code, &executable, sizeof code);
  code();
  say("ran", 1);
}

static void profit(void) {
  char byte;
  switch (ATTEMPT) {
  case ANSWERS_FOR_THE_KERNEL_BY_SECCOMP:
  case ANSWERS_FOR_THE_KERNEL_BY_PRCTL:
    say("opened", open("/proc/self/maps", O_RDONLY) >= 0);
    make_code();
    return;
  case KEEPS_A_DESCRIPTOR:
    return say("read", read(kept, &byte, 1) == 1);
  case KEEPS_TWO_VIEWS_OF_MEMORY:
  case KEEPS_A_SECOND_VIEW_OF_SHARED_MEMORY:
    return run_code();
  case HANDLES_SIGSEGV:
    *(volatile char*)(size_t)zero = 0;
    return;
  case KEEPS_SHARED_MEMORY_EXECUTABLE:
  case MAKES_CODE:
  case ASKS_FROM_ITS_CONSTRUCTOR:
  case LEAVES_AS_IF_LOADED:
  case LEAVES:
  case STAYS:
    return;
  }
}

int mqs_process_has_queues(mqs_process* process, char** message) {
  profit();
  return plain_process_has_queues(process, message);
}
