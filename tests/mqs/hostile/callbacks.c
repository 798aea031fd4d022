/* Callbacks made with anything but what they want, and whenever they are not expected. Only the
 * tables that the DLL has been given by then are used. */

#include "tests/mqs/hostile/hostile.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { large = 1 << 20 };

static void require(int holds) {
  if (!holds)
    abort();
}

static mqs_taddr_t readable(void) {
  mqs_taddr_t at = 0;
  require(now.image_host->mqs_find_symbol_fp(now.image, "test_queue_root", &at) == mqs_ok);
  return at;
}

static void basic_with_nothing(void) {
  const mqs_basic_callbacks* host = now.host;
  host->mqs_free_fp(NULL);
  host->mqs_dprints_fp(NULL);
  host->mqs_dprints_fp("");
  void* none = host->mqs_malloc_fp(0);
  require(none != NULL);
  host->mqs_free_fp(none);
  require(host->mqs_errorstring_fp(INT_MIN) != NULL && host->mqs_errorstring_fp(INT_MAX) != NULL);
  mqs_image_info* image_info = host->mqs_get_image_info_fp(NULL);
  host->mqs_put_image_info_fp(NULL, image_info);
  mqs_process_info* process_info = host->mqs_get_process_info_fp(NULL);
  host->mqs_put_process_info_fp(NULL, process_info);
}

static void image_with_nothing(void) {
  const mqs_image_callbacks* host = now.image_host;
  host->mqs_get_type_sizes_fp(NULL, NULL);
  require(host->mqs_find_function_fp(NULL, NULL, mqs_lang_c, NULL) != mqs_ok);
  require(host->mqs_find_symbol_fp(NULL, NULL, NULL) != mqs_ok);
  require(host->mqs_find_symbol_fp(NULL, "", NULL) != mqs_ok);
  require(host->mqs_find_type_fp(NULL, NULL, mqs_lang_c) == NULL);
  require(host->mqs_find_type_fp(NULL, "", (mqs_lang_code)-1) == NULL);
  require(host->mqs_field_offset_fp(NULL, "next") == -1);
  require(host->mqs_sizeof_fp(NULL) == -1);
}

static void process_with_nothing(void) {
  const mqs_process_callbacks* host = now.process_host;
  char bytes[8] = "unread!";
  require(host->mqs_fetch_data_fp(NULL, 0, -1, bytes) != mqs_ok);
  require(host->mqs_fetch_data_fp(NULL, 0, INT_MIN, NULL) != mqs_ok);
  require(host->mqs_fetch_data_fp(NULL, 0, 8, NULL) != mqs_ok);
  require(host->mqs_fetch_data_fp(NULL, UINT64_MAX - 3, 8, bytes) != mqs_ok);
  require(strcmp(bytes, "unread!") == 0);
  host->mqs_target_to_host_fp(NULL, NULL, NULL, 8);
  host->mqs_target_to_host_fp(NULL, bytes, bytes, -1);
  host->mqs_target_to_host_fp(NULL, bytes, bytes, 0);
  host->mqs_get_global_rank_fp(NULL);
  host->mqs_get_image_fp(NULL);
}

static void pass_nothing(void) {
  basic_with_nothing();
  if (now.image_host != NULL)
    image_with_nothing();
  if (now.process_host != NULL)
    process_with_nothing();
}

/* Objects that are no objects of the host's: numbers, the DLL's own memory, one as another. */
static void pass_foreign_objects(void) {
  char own[256] = {0};
  void* const foreign[] = {(void*)0x10, own, (void*)UINTPTR_MAX, now.process, now.image};
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i) {
    now.host->mqs_get_image_info_fp((mqs_image*)foreign[i]);
    now.host->mqs_get_process_info_fp((mqs_process*)foreign[i]);
    if (now.image_host != NULL) {
      require(now.image_host->mqs_sizeof_fp((mqs_type*)foreign[i]) == -1);
      require(now.image_host->mqs_field_offset_fp((mqs_type*)foreign[i], "next") == -1);
      require(now.image_host->mqs_find_symbol_fp((mqs_image*)foreign[i], "nowhere", NULL) !=
              mqs_ok);
    }
    if (now.process_host != NULL)
      require(now.process_host->mqs_fetch_data_fp((mqs_process*)foreign[i], 0, 1, own) != mqs_ok);
  }
}

static mqs_type* kept_type;

/* A type of before, after much else was asked for. */
static void use_a_kept_type(void) {
  if (now.image_host == NULL)
    return;
  kept_type = now.image_host->mqs_find_type_fp(now.image, "struct test_communicator", mqs_lang_c);
  require(kept_type != NULL);
  char name[] = "type_x";
  for (char c = 'a'; c <= 'z'; ++c) {
    name[5] = c;
    now.image_host->mqs_find_type_fp(now.image, name, mqs_lang_c);
  }
  require(now.image_host->mqs_sizeof_fp(kept_type) > 0);
  require(now.image_host->mqs_field_offset_fp(kept_type, "next") == 0);
}

/* What the out structures were before: the worker's stack by now. */
static void write_to_kept_structures(void) {
  memset(now.operation, 0x5a, sizeof *now.operation);
  memset(now.ranks, 0x5a, 64);
}

static void put_wild_infos(void) {
  now.host->mqs_put_image_info_fp(now.image, (mqs_image_info*)0x10);
  now.host->mqs_put_process_info_fp(now.process, (mqs_process_info*)0x10);
}

static void put_no_infos(void) {
  now.host->mqs_put_image_info_fp(now.image, NULL);
  now.host->mqs_put_process_info_fp(now.process, NULL);
}

static void print_a_wild_text(void) {
  now.host->mqs_dprints_fp((char*)0x10);
}
static void name_a_wild_symbol(void) {
  now.image_host->mqs_find_symbol_fp(now.image, (char*)0x10, NULL);
}
static void name_a_wild_type(void) {
  now.image_host->mqs_find_type_fp(now.image, (char*)0x10, mqs_lang_c);
}
static void fetch_to_a_wild_place(void) {
  now.process_host->mqs_fetch_data_fp(now.process, readable(), 8, (void*)0x10);
}
static void convert_to_a_wild_place(void) {
  const char bytes[8] = {0};
  now.process_host->mqs_target_to_host_fp(now.process, bytes, (void*)0x10, sizeof bytes);
}

/* Names of a megabyte, with everything in them, up to the very end of a mapping. */
static void pass_endless_names(void) {
  char* name = mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(name != MAP_FAILED);
  for (size_t i = 0; i < large; ++i)
    name[i] = (char)(i % 255 + 1);
  munmap(name + large / 2, large / 2);
  require(now.image_host->mqs_find_symbol_fp(now.image, name, NULL) != mqs_ok);
  require(now.image_host->mqs_find_function_fp(now.image, name, mqs_lang_c, NULL) != mqs_ok);
  require(now.image_host->mqs_find_type_fp(now.image, name, mqs_lang_c) == NULL);
  use_a_kept_type();
  require(now.image_host->mqs_field_offset_fp(kept_type, name) == -1);
  /* Without a NUL before the mapping's end, where the longest name that is read just fits. */
  char* last = name + large / 2 - 4096;
  require(now.image_host->mqs_find_symbol_fp(now.image, last, NULL) != mqs_ok);
  now.host->mqs_dprints_fp(last);
}

static void fetch_more_than_there_is(void) {
  char* room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(room != MAP_FAILED);
  for (int size = INT_MAX; size > 4096; size /= 3)
    require(now.process_host->mqs_fetch_data_fp(now.process, 0xdead0000, size, room) != mqs_ok);
}

static void write_to_error_strings(void) {
  static const int codes[] = {mqs_ok, mqs_no_information, mqs_end_of_list, 100};
  for (int i = 0; i < 4; ++i) {
    char* text = now.host->mqs_errorstring_fp(codes[i]);
    memset(text, '%', strlen(text));
  }
}

/* Members that belong to level 3, given to a DLL of level 2. */
static void use_the_callbacks_of_level_3(void) {
  const mqs_basic_callbacks_3* host = (const mqs_basic_callbacks_3*)now.host;
  host->mqs_put_job_info_fp(NULL, (mqs_job_info*)0x10);
  require(host->mqs_get_job_info_fp((mqs_job*)0x10) == NULL);
  if (now.process_host == NULL)
    return;
  const mqs_process_callbacks_3* process = (const mqs_process_callbacks_3*)now.process_host;
  mqs_job* job = process->mqs_get_process_job_fp(now.process);
  require(job != NULL && host->mqs_get_job_info_fp(job) == NULL);
  require(process->mqs_get_process_identity_fp((mqs_job*)0x10) == -1);
}

static void* fetch_in_a_thread(void* buffer) {
  if (now.process_host != NULL)
    now.process_host->mqs_fetch_data_fp(now.process, 0x1000, 8, buffer);
  return NULL;
}

static void call_back_from_a_thread(void) {
  static char buffer[8];
  pthread_t thread;
  if (pthread_create(&thread, NULL, fetch_in_a_thread, buffer) == 0)
    pthread_join(thread, NULL);
}

const struct evil callbacks[] = {
    {"pass_nothing", pass_nothing},
    {"pass_foreign_objects", pass_foreign_objects},
    {"use_a_kept_type", use_a_kept_type},
    {"write_to_kept_structures", write_to_kept_structures},
    {"put_wild_infos", put_wild_infos},
    {"put_no_infos", put_no_infos},
    {"print_a_wild_text", print_a_wild_text},
    {"name_a_wild_symbol", name_a_wild_symbol},
    {"name_a_wild_type", name_a_wild_type},
    {"fetch_to_a_wild_place", fetch_to_a_wild_place},
    {"convert_to_a_wild_place", convert_to_a_wild_place},
    {"pass_endless_names", pass_endless_names},
    {"fetch_more_than_there_is", fetch_more_than_there_is},
    {"write_to_error_strings", write_to_error_strings},
    {"use_the_callbacks_of_level_3", use_the_callbacks_of_level_3},
    {"call_back_from_a_thread", call_back_from_a_thread},
    {NULL, NULL},
};
