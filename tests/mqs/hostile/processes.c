/* What goes at the worker process itself, its descriptors and its memory. */

#include "tests/mqs/hostile/hostile.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* The worker's own: host/confined/confined_process.h, host/mqs/wire.h. */
enum { worker_socket = 3, worker_shared_memory = 4 };
enum { kind_fetch = 7, kind_batch = 8, kind_failure = 9, kind_done = 10 };

static void close_socket(void) {
  close(worker_socket);
}
static void close_shared_memory(void) {
  close(worker_shared_memory);
}
static void close_everything(void) {
  for (int fd = 0; fd < 64; ++fd)
    close(fd);
}
static void use_up_descriptors(void) {
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
}
static void replace_the_socket(void) {
  dup2(STDIN_FILENO, worker_socket);
}
static void shut_the_socket(void) {
  shutdown(worker_socket, SHUT_RDWR);
}

static void send_bytes(const void* bytes, size_t size) {
  struct iovec piece = {(void*)bytes, size};
  const struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  sendmsg(worker_socket, &message, MSG_NOSIGNAL);
}

static void send_rubbish(void) {
  unsigned char rubbish[4096];
  memset(rubbish, 0xfe, sizeof rubbish);
  send_bytes(rubbish, sizeof rubbish);
}
static void send_nothing(void) {
  send_bytes("", 0);
}
static void send_too_much(void) {
  static char bytes[100 * 1024] = {kind_batch};
  send_bytes(bytes, sizeof bytes);
}
static void send_a_kind_alone(void) {
  for (char kind = 0; kind < 16; ++kind)
    send_bytes(&kind, 1);
}
static void say_that_all_is_done(void) {
  const char done = kind_done;
  send_bytes(&done, 1);
}
static void say_an_unknown_failure(void) {
  const unsigned char failure[6] = {kind_failure, 200, 0, 0, 0, 0};
  send_bytes(failure, sizeof failure);
}
static void send_a_batch_out_of_turn(void) {
  unsigned char batch[9] = {kind_batch};
  memset(batch + 1, 0xff, 8);
  send_bytes(batch, sizeof batch);
}
static void send_a_fetch(void) {
  unsigned char fetch[13] = {kind_fetch}; /* 8 bytes from 0 */
  fetch[9] = 8;
  send_bytes(fetch, sizeof fetch);
}
/* Every later reply is that of the question before. */
static void leave_a_reply_unread(void) {
  send_a_fetch();
}
static void ask_and_never_read(void) {
  for (;;)
    send_a_fetch();
}
static void wait_for_a_reply_to_nothing(void) {
  char bytes[64];
  if (read(worker_socket, bytes, sizeof bytes) < 0)
    abort();
}

static void send_descriptors(void) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(4 * sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  char byte = 0;
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {.msg_iov = &bytes,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(4 * sizeof(int));
  const int descriptors[4] = {0, 1, 2, worker_socket};
  memcpy(CMSG_DATA(&control.header), descriptors, sizeof descriptors);
  sendmsg(worker_socket, &message, MSG_NOSIGNAL);
}

/* Where the worker has mapped `name`; while the DLL is loaded, as no file is opened later. */
static int find_mapping(const char* name, char** from, size_t* size) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  int found = 0;
  while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
    unsigned long first = 0;
    unsigned long end = 0;
    found = strstr(line, name) != NULL && sscanf(line, "%lx-%lx", &first, &end) == 2;
    *from = (char*)first;
    *size = end - first;
  }
  if (maps != NULL)
    fclose(maps);
  return found;
}

static void with_mapping(const char* name, void (*act)(char* from, size_t size)) {
  char* from = NULL;
  size_t size = 0;
  if (find_mapping(name, &from, &size))
    act(from, size);
  else
    abort();
}

#define SHARED_MEMORY "mqbridge-worker (deleted)"
#define PAGES "mqbridge-pages"

static void fill_with_ones(char* from, size_t size) {
  memset(from, 0xff, size);
}
static void fill_with_zeros(char* from, size_t size) {
  memset(from, 0, size);
}
static void unmap(char* from, size_t size) {
  munmap(from, size);
}
static void map_over(char* from, size_t size) {
  mmap(from, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/* That works on nothing that the host reads. */
static void make_writable(char* from, size_t size) {
  if (mprotect(from, size, PROT_READ | PROT_WRITE) == 0)
    memset(from, 0xff, size);
}

static void fill_shared_memory_with_ones(void) {
  with_mapping(SHARED_MEMORY, fill_with_ones);
}
static void fill_shared_memory_with_zeros(void) {
  with_mapping(SHARED_MEMORY, fill_with_zeros);
}
static void unmap_shared_memory(void) {
  with_mapping(SHARED_MEMORY, unmap);
}
static void write_to_the_pages(void) {
  with_mapping(PAGES, make_writable);
}
static void unmap_the_pages(void) {
  with_mapping(PAGES, unmap);
}
static void map_over_the_pages(void) {
  with_mapping(PAGES, map_over);
}

static volatile int zero;

static void handle(int signal_number) {
  (void)signal_number;
}
static void loop_in_a_handler(int signal_number) {
  (void)signal_number;
  for (;;)
    ++zero;
}
static void handle_its_own_crash(void) {
  signal(SIGSEGV, loop_in_a_handler);
  *(volatile int*)(long)zero = 1;
}
static void return_from_a_crash(void) {
  signal(SIGSEGV, handle);
  *(volatile int*)(long)zero = 1;
}
static void ignore_all_signals_and_loop(void) {
  for (int number = 1; number < SIGSYS; ++number)
    signal(number, SIG_IGN);
  for (;;)
    ++zero;
}
static void block_all_signals_and_loop(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (;;)
    ++zero;
}

static void leave_a_child(void) {
  if (fork() != 0)
    return;
  setsid();
  for (;;)
    sleep(600);
}
static void raise_its_limits(void) {
  const struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &most);
}
static void set_an_alarm(void) {
  alarm(1);
}
static void leave_the_directory(void) {
  if (chdir("/tmp") != 0)
    abort();
}

static void change_the_arithmetic(void) {
  fesetround(FE_UPWARD);
  feenableexcept(FE_ALL_EXCEPT);
}
static void change_the_locale(void) {
  setlocale(LC_ALL, "de_DE.UTF-8");
}
static void change_the_environment(void) {
  clearenv();
  putenv("LD_PRELOAD=/tmp/evil.so");
}
static void close_its_streams(void) {
  fclose(stdout);
  fclose(stderr);
}
static void buffer_its_output(void) {
  static char room[1 << 16];
  setvbuf(stdout, room, _IOFBF, sizeof room);
  fputs("a line that stays in the buffer until the end\n", stdout);
}

const struct evil processes[] = {
    {"close_socket", close_socket},
    {"close_shared_memory", close_shared_memory},
    {"close_everything", close_everything},
    {"use_up_descriptors", use_up_descriptors},
    {"replace_the_socket", replace_the_socket},
    {"shut_the_socket", shut_the_socket},
    {"send_rubbish", send_rubbish},
    {"send_nothing", send_nothing},
    {"send_too_much", send_too_much},
    {"send_a_kind_alone", send_a_kind_alone},
    {"say_that_all_is_done", say_that_all_is_done},
    {"say_an_unknown_failure", say_an_unknown_failure},
    {"send_a_batch_out_of_turn", send_a_batch_out_of_turn},
    {"leave_a_reply_unread", leave_a_reply_unread},
    {"ask_and_never_read", ask_and_never_read},
    {"wait_for_a_reply_to_nothing", wait_for_a_reply_to_nothing},
    {"send_descriptors", send_descriptors},
    {"fill_shared_memory_with_ones", fill_shared_memory_with_ones},
    {"fill_shared_memory_with_zeros", fill_shared_memory_with_zeros},
    {"unmap_shared_memory", unmap_shared_memory},
    {"write_to_the_pages", write_to_the_pages},
    {"unmap_the_pages", unmap_the_pages},
    {"map_over_the_pages", map_over_the_pages},
    {"handle_its_own_crash", handle_its_own_crash},
    {"return_from_a_crash", return_from_a_crash},
    {"ignore_all_signals_and_loop", ignore_all_signals_and_loop},
    {"block_all_signals_and_loop", block_all_signals_and_loop},
    {"leave_a_child", leave_a_child},
    {"raise_its_limits", raise_its_limits},
    {"set_an_alarm", set_an_alarm},
    {"leave_the_directory", leave_the_directory},
    {"change_the_arithmetic", change_the_arithmetic},
    {"change_the_locale", change_the_locale},
    {"change_the_environment", change_the_environment},
    {"close_its_streams", close_its_streams},
    {"buffer_its_output", buffer_its_output},
    {NULL, NULL},
};
