/* What a program that is linked with an older glibc (old_libc.py) needs of later ones: functions that the compiler's own libraries and
 * mqbridge call. Each does what the later glibc's does, by what the older one has. For x86_64. */

#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* glibc 2.32: whether one may do without locks. No. */
char __libc_single_threaded = 0;

/* glibc 2.33 made functions of them. */
enum { stat_version = 1 };
int __xstat(int version, const char* path, struct stat* result);
int __lxstat(int version, const char* path, struct stat* result);
int __fxstat(int version, int file, struct stat* result);

int stat(const char* path, struct stat* result) { return __xstat(stat_version, path, result); }
int lstat(const char* path, struct stat* result) { return __lxstat(stat_version, path, result); }
int fstat(int file, struct stat* result) { return __fxstat(stat_version, file, result); }
int fstat64(int file, struct stat64* result) __attribute__((alias("fstat")));

/* glibc 2.36 */
uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    if (errno != EINTR)
      abort();
  return number;
}

/* glibc 2.30. An older one waits by CLOCK_REALTIME alone, which may be set meanwhile: so it waits for a second at most, and looks at the
 * clock that is meant. */
static const long second = 1000000000;

/* When `until` is there by CLOCK_REALTIME, or in a second; false: it is past. */
static int until_by_realtime(clockid_t clock, const struct timespec* until, struct timespec* result) {
  struct timespec now = {0, 0};
  clock_gettime(clock, &now);
  const long seconds = until->tv_sec - now.tv_sec;
  long left = seconds > 1 ? second : seconds < 0 ? 0 : seconds * second + until->tv_nsec - now.tv_nsec;
  if (left <= 0)
    return 0;
  if (left > second)
    left = second;
  clock_gettime(CLOCK_REALTIME, result);
  result->tv_nsec += left;
  result->tv_sec += result->tv_nsec / second;
  result->tv_nsec %= second;
  return 1;
}

/* May return though nobody woke it, as each such wait may. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  struct timespec realtime = {0, 0};
  if (!until_by_realtime(clock, until, &realtime))
    return ETIMEDOUT;
  const int result = pthread_cond_timedwait(condition, mutex, &realtime);
  return result == ETIMEDOUT && until_by_realtime(clock, until, &realtime) ? 0 : result;
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  struct timespec realtime = {0, 0};
  int result = pthread_mutex_trylock(mutex);
  while ((result == EBUSY || result == ETIMEDOUT) && until_by_realtime(clock, until, &realtime))
    result = pthread_mutex_timedlock(mutex, &realtime);
  return result == EBUSY ? ETIMEDOUT : result;
}

/* glibc 2.32: "SEGV" */
const char* sigabbrev_np(int number) {
  static const char* const names[] = {
      [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
      [SIGBUS] = "BUS",   [SIGFPE] = "FPE",   [SIGKILL] = "KILL", [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
      [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
      [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
      [SIGXFSZ] = "XFSZ", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGVTALRM] = "VTALRM", [SIGIO] = "POLL",     [SIGPWR] = "PWR",
      [SIGSYS] = "SYS"};
  return number > 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}

/* Calls `with` of each open descriptor from `first` to `last`, of each possible one where /proc does not tell; what it returns ends that
 * unless it is 0. */
static int each_open(unsigned first, unsigned last, int (*with)(int file, void* of), void* of) {
  int result = 0;
  DIR* open_files = opendir("/proc/self/fd");
  if (open_files == NULL) {
    const long most = sysconf(_SC_OPEN_MAX);
    for (long file = first; file < most && (unsigned long)file <= last && result == 0; ++file)
      result = with((int)file, of);
    return result;
  }
  for (const struct dirent* entry = readdir(open_files); entry != NULL && result == 0; entry = readdir(open_files)) {
    char* end = NULL;
    const unsigned long file = strtoul(entry->d_name, &end, 10);
    if (end != entry->d_name && *end == '\0' && file >= first && file <= last && (int)file != dirfd(open_files))
      result = with((int)file, of);
  }
  closedir(open_files);
  return result;
}

/* glibc 2.34, Linux 5.9 */
static int close_it(int file, void* of) {
  (void)of;
  close(file);
  return 0;
}

int close_range(unsigned first, unsigned last, int flags) {
  if (syscall(SYS_close_range, first, last, flags) == 0)
    return 0;
  if (errno == EINVAL || flags != 0) // else the kernel has no such call, or a container forbids it
    return -1;
  errno = each_open(first, last, close_it, NULL);
  return errno == 0 ? 0 : -1;
}

/* glibc 2.34. Descriptors that another thread opens later are closed by exec: mqbridge opens all of its own so. */
static int close_in_child(int file, void* actions) {
  return posix_spawn_file_actions_addclose(actions, file);
}

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int first) {
  return each_open((unsigned)first, ~0U, close_in_child, actions);
}

/* glibc 2.35: where the unwinder finds the tables of the object with an address. */
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* object, size_t size, void* of) {
  (void)size;
  struct search* search = of;
  const ElfW(Phdr)* here = NULL;
  const ElfW(Phdr)* tables = NULL;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && search->address >= start && search->address - start < segment->p_memsz)
      here = segment;
    if (segment->p_type == PT_GNU_EH_FRAME)
      tables = segment;
  }
  if (here == NULL || tables == NULL)
    return here != NULL;
  search->found->dlfo_map_start = (void*)(object->dlpi_addr + here->p_vaddr);
  search->found->dlfo_map_end = (void*)(object->dlpi_addr + here->p_vaddr + here->p_memsz);
  search->found->dlfo_eh_frame = (void*)(object->dlpi_addr + tables->p_vaddr);
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  *result = (struct dl_find_object){0};
  dl_iterate_phdr(look_at, &search);
  return result->dlfo_eh_frame != NULL ? 0 : -1;
}

/* glibc 2.34: it calls the constructors of the program itself, where the older one leaves that to the program. */
typedef void constructor(int, char**, char**);
extern constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void) __attribute__((visibility("hidden")));

static void construct(int argc, char** argv, char** environment) {
  _init();
  for (constructor** each = __init_array_start; each < __init_array_end; ++each)
    (*each)(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv, constructor* init, void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end);

/* What Scrt1.o calls in place of __libc_start_main (objcopy --redefine-sym). */
int start_with_constructors(int (*program)(int, char**, char**), int argc, char** argv, constructor* init, void (*fini)(void),
                            void (*rtld_fini)(void), void* stack_end) {
  (void)init;
  return __libc_start_main(program, argc, argv, construct, fini, rtld_fini, stack_end);
}
