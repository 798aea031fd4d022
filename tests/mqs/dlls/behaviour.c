// Debug DLLs that misbehave, one at a time: BEHAVIOUR says how. Without any it lists one
// communicator, "plain", with three receives of tags 0, 1 and 2, and empty other queues.

#include "dll/mqs_interface.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum behaviour {
  PLAIN,
  CONSTRUCTOR_CRASHES,
  VERSION_1,
  WIDTH_4,
  PRINTF_REFUSAL,
  PRINTF_WELCOME,
  SETUP_FAILS,
  UPDATE_FAILS,
  CRASHES,
  DIVIDES_BY_ZERO,
  LOOPS,
  EXITS,
  ABORTS,
  ENDLESS_OPERATIONS,
  ENDLESS_COMMUNICATORS,
  LIES_FAST,   // lists without end, and reads nothing
  LIES_SLOWLY, // the same, and reads for each operation
  UNTERMINATED,
  CONTROL_CHARACTERS,
  SIZE_MINUS_1,
  SIZE_2_40,
  GROUP_FAILS,
  OVERFILLS,
  FETCHES_UNMAPPED,
  ITERATOR_ERRORS,
  NEXT_FAILS,
  NOTHING_TO_TELL,
  PRINTS,
  PRINTS_FOR_EVER,
  DPRINTS_FOR_EVER,
  SENDS_GARBAGE,
  FETCHES_AND_SENDS_GARBAGE,
  SENDS_AND_NEVER_READS,
  CLOSES_SOCKET,
  FORKS,
  LOOKS_AROUND,
  SCRIBBLES,
  SHARES_MEMORY,
  CRASHES_IN_DESTROY,
};

static const mqs_basic_callbacks* host;
static const mqs_process_callbacks* process_host;
static volatile int zero = 0;
static int communicators_left;
static volatile int next_tag;

enum { worker_socket = 3, operations = 3 };

static void look_around(void) {
  extern char** environ;
  int variables = 0;
  for (char** each = environ; each != NULL && *each != NULL; ++each)
    ++variables;
  int descriptors = 0;
  for (int fd = 0; fd < 64; ++fd)
    descriptors += fstat(fd, &(struct stat){0}) == 0;
  int group = 0;
  FILE* self = fopen("/proc/self/stat", "r");
  if (self == NULL || fscanf(self, "%*d (%*[^)]) %*c %*d %d", &group) != 1)
    abort();
  fclose(self);
  char byte;
  printf("%d variables, %d descriptors, %d bytes of input, group %d\n", variables, descriptors,
         (int)read(STDIN_FILENO, &byte, 1), group);
}

/// Tries to write to everything that it shares with the host, except the batch of results.
static void scribble(void) {
  enum { record = 128 * 1024 }; // of the slots looked at: the end of what a worker may write
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (sscanf(line, "%lx-%lx", &from, &to) != 2)
      continue;
    if (strstr(line, "mqbridge-pages") != NULL)
      printf("the pages are %s\n",
             mprotect((void*)from, to - from, PROT_READ | PROT_WRITE) == 0 ? "writable" : "sealed");
    if (strstr(line, "memfd:mqbridge-worker") != NULL)
      memset((void*)(to - record), 0xff, record);
  }
  if (maps != NULL)
    fclose(maps);
}

/// Shared memory that nobody shares.
static void map_shared_memory(void) {
  enum { piece = 1 << 24, most = 1 << 9 };
  int pieces = 0;
  while (pieces < most &&
         mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    ++pieces;
  printf("%d MiB\n", pieces * 16);
}

/// Later it could not even open a file.
__attribute__((constructor)) static void construct(void) {
  if (BEHAVIOUR == CONSTRUCTOR_CRASHES)
    abort();
  if (BEHAVIOUR == LOOKS_AROUND)
    look_around();
  if (BEHAVIOUR == SCRIBBLES)
    scribble();
  if (BEHAVIOUR == SHARES_MEMORY)
    map_shared_memory();
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  host = callbacks;
}
char* mqs_version_string(void) {
  return "behaviour 1.0";
}
int mqs_version_compatibility(void) {
  return BEHAVIOUR == VERSION_1 ? 1 : 2;
}
int mqs_dll_taddr_width(void) {
  return BEHAVIOUR == WIDTH_4 ? 4 : 8;
}

char* mqs_dll_error_string(int code) {
  return code == mqs_first_user_code ? "the first user code" : NULL;
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  (void)callbacks;
  host->mqs_put_image_info_fp(image, (mqs_image_info*)&host);
  return BEHAVIOUR == SETUP_FAILS ? 177 : mqs_ok;
}

int mqs_image_has_queues(mqs_image* image, char** message) {
  (void)image;
  if (BEHAVIOUR == PRINTF_REFUSAL)
    *message = "no queues in %s: 100%% %n%s%d";
  if (BEHAVIOUR == PRINTF_WELCOME)
    *message = "%s has %n queues";
  return BEHAVIOUR == PRINTF_REFUSAL ? mqs_first_user_code : mqs_ok;
}

static void send_garbage(void) {
  unsigned char garbage[4096];
  memset(garbage, 0xfe, sizeof garbage);
  if (write(worker_socket, garbage, sizeof garbage) < 0)
    abort();
}

// Of 48 KiB from 0, in the worker's own format.
static void send_fetch(void) {
  unsigned char fetch[13] = {7};
  fetch[10] = 0xc0;
  if (write(worker_socket, fetch, sizeof fetch) < 0)
    abort();
}

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  process_host = callbacks;
  host->mqs_put_process_info_fp(process, (mqs_process_info*)&process_host);
  if (BEHAVIOUR == PRINTS) {
    fprintf(stderr, "to stderr\n");
    printf("to stdout, no newline");
    host->mqs_dprints_fp("dprints\ttab\nsecond line");
  }
  if (BEHAVIOUR == FORKS && fork() == 0) {
    sleep(600);
    _exit(0);
  }
  while (BEHAVIOUR == PRINTS_FOR_EVER)
    puts("again");
  while (BEHAVIOUR == DPRINTS_FOR_EVER)
    host->mqs_dprints_fp("again\n");
  if (BEHAVIOUR == FETCHES_AND_SENDS_GARBAGE)
    send_fetch();
  if (BEHAVIOUR == SENDS_GARBAGE || BEHAVIOUR == FETCHES_AND_SENDS_GARBAGE)
    send_garbage();
  if (BEHAVIOUR == SENDS_GARBAGE)
    sleep(600); // what it found before it is ended would be kept
  while (BEHAVIOUR == SENDS_AND_NEVER_READS)
    send_fetch();
  if (BEHAVIOUR == CLOSES_SOCKET) {
    close(worker_socket);
    sleep(600);
  }
  return mqs_ok;
}

int mqs_process_has_queues(mqs_process* process, char** message) {
  (void)process;
  (void)message;
  return mqs_ok;
}

int mqs_update_communicator_list(mqs_process* process) {
  (void)process;
  return BEHAVIOUR == UPDATE_FAILS ? mqs_first_user_code : mqs_ok;
}

int mqs_setup_communicator_iterator(mqs_process* process) {
  (void)process;
  communicators_left = 1;
  return mqs_ok;
}

int mqs_get_communicator(mqs_process* process, mqs_communicator* out) {
  (void)process;
  out->unique_id = 0xc0;
  out->local_rank = 1;
  out->size = BEHAVIOUR == SIZE_MINUS_1 ? -1 : BEHAVIOUR == SIZE_2_40 ? (mqs_tword_t)1 << 40 : 2;
  strcpy(out->name, BEHAVIOUR == CONTROL_CHARACTERS ? "a\x1b[2Jb\xff\xc3\xa9" : "plain");
  if (BEHAVIOUR == UNTERMINATED)
    memset(out->name, 'n', sizeof out->name);
  if (BEHAVIOUR == OVERFILLS)
    memset(out->name, 'o', sizeof out->name + 256);
  return mqs_ok;
}

#ifndef NO_OPTIONAL
int mqs_get_comm_group(mqs_process* process, int* ranks) {
  (void)process;
  if (BEHAVIOUR == SIZE_MINUS_1 || BEHAVIOUR == SIZE_2_40)
    abort(); // nobody asks for such a group
  ranks[0] = 8;
  ranks[1] = 9;
  if (BEHAVIOUR == OVERFILLS)
    memset(ranks + 2, 0x77, 256);
  return BEHAVIOUR == GROUP_FAILS ? mqs_first_user_code : mqs_ok;
}
#endif

#ifndef NO_NEXT_COMMUNICATOR
int mqs_next_communicator(mqs_process* process) {
  (void)process;
  if (BEHAVIOUR == ENDLESS_COMMUNICATORS || BEHAVIOUR == LIES_FAST || BEHAVIOUR == LIES_SLOWLY)
    return mqs_ok;
  if (--communicators_left < 0)
    abort(); // called again after the end
  return mqs_end_of_list;
}
#endif

int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  (void)process;
  next_tag = 0;
  if (BEHAVIOUR == ITERATOR_ERRORS)
    return op_class == mqs_pending_sends      ? 142
           : op_class == mqs_pending_receives ? mqs_end_of_list
                                              : mqs_no_information;
  return op_class == mqs_pending_receives ? mqs_ok : mqs_end_of_list;
}

static void misbehave(void) {
  switch (BEHAVIOUR) {
  case CRASHES:
    *(volatile int*)(long)zero = 1;
    break;
  case DIVIDES_BY_ZERO:
    next_tag = next_tag / zero;
    break;
  case LOOPS:
    for (;;)
      next_tag += zero;
  case EXITS:
    exit(3);
  case ABORTS:
    abort();
  default:
    break;
  }
}

static int fetch_unmapped(mqs_process* process) {
  char bytes[16];
  const int code = process_host->mqs_fetch_data_fp(process, 0xdead0000, sizeof bytes, bytes);
  const int beyond = process_host->mqs_fetch_data_fp(process, 0xdead0000, INT_MAX, bytes);
  return code == mqs_no_information && beyond == mqs_no_information ? 4711 : 0;
}

int mqs_next_operation(mqs_process* process, mqs_pending_operation* out) {
  if (BEHAVIOUR == NOTHING_TO_TELL)
    return mqs_no_information;
  if (next_tag == operations) {
    misbehave();
    if (BEHAVIOUR == NEXT_FAILS)
      return 142;
    if (BEHAVIOUR != ENDLESS_OPERATIONS && BEHAVIOUR != LIES_FAST && BEHAVIOUR != LIES_SLOWLY) {
      next_tag = INT_MIN; // the next call would show
      return mqs_end_of_list;
    }
  }
  if (next_tag < 0)
    abort(); // called again after the end
  const int fetches = BEHAVIOUR == FETCHES_UNMAPPED || BEHAVIOUR == LIES_SLOWLY;
  out->desired_tag = fetches ? fetch_unmapped(process) : next_tag;
  out->desired_length = 8;
  if (BEHAVIOUR == UNTERMINATED)
    memset(out->extra_text, 't', sizeof out->extra_text);
  if (BEHAVIOUR == OVERFILLS)
    memset(out->extra_text, 'o', sizeof out->extra_text + 256);
  ++next_tag;
  return mqs_ok;
}

#ifndef NO_OPTIONAL
void mqs_destroy_process_info_(mqs_process_info* info) __asm__("mqs_destroy_process_info");
void mqs_destroy_process_info_(mqs_process_info* info) { // void, as shipped headers have it
  (void)info;
  if (BEHAVIOUR == CRASHES_IN_DESTROY)
    abort();
}
#endif
