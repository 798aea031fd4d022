// A debug DLL that tries the host's callbacks as DLLs of the field were seen to use them, and says
// which of them failed it. MQD 1.0 sections in brackets.

#include "dll/mqs_interface.h"

#include <stdio.h>
#include <string.h>

static const mqs_basic_callbacks* host;
static const mqs_image_callbacks* image_host;
static char failed_check[128];

static int check(int holds, const char* what) {
  if (!holds && failed_check[0] == '\0')
    snprintf(failed_check, sizeof failed_check, "failed: %s", what);
  return holds;
}

static void check_memory(void) { // [5.6.2, 5.6.3]
  unsigned char* block = host->mqs_malloc_fp(64);
  int zero = block != NULL;
  for (int i = 0; block != NULL && i < 64; ++i)
    zero = zero && block[i] == 0;
  check(zero, "malloc zeroes");
  if (block != NULL)
    memset(block, 0xff, 64);
  host->mqs_free_fp(block);
  host->mqs_free_fp(NULL);
  void* empty = host->mqs_malloc_fp(0);
  check(empty != NULL, "malloc(0)");
  host->mqs_free_fp(empty);
  host->mqs_dprints_fp(NULL);
  host->mqs_dprints_fp("%s%n%d");
  check(strlen(host->mqs_errorstring_fp(mqs_no_information)) > 0, "errorstring");
  check(host->mqs_errorstring_fp(-7) != NULL, "errorstring of an unknown code");
}

static void check_types(mqs_image* image) { // [5.6.12 - 5.6.16]
  mqs_type* type = image_host->mqs_find_type_fp(image, "test_operation", mqs_lang_c);
  mqs_taddr_t address = 1;
  check(type != NULL, "find_type");
  check(image_host->mqs_find_type_fp(NULL, "test_operation", mqs_lang_cplus) == type,
        "find_type without an image");
  check(image_host->mqs_find_type_fp(image, "no_such_type", mqs_lang_c) == NULL, "no such type");
  check(image_host->mqs_find_type_fp(image, NULL, mqs_lang_c) == NULL, "find_type(NULL)");
  check(image_host->mqs_sizeof_fp(type) == 40, "sizeof");
  check(image_host->mqs_sizeof_fp(NULL) == -1, "sizeof(NULL)");
  check(image_host->mqs_sizeof_fp((mqs_type*)&address) == -1, "sizeof of a stranger");
  check(image_host->mqs_field_offset_fp(type, "no_such_field") == -1, "no such field");
  check(image_host->mqs_field_offset_fp(NULL, "next") == -1, "field of NULL");
  check(image_host->mqs_field_offset_fp(type, NULL) == -1, "field NULL");
  check(image_host->mqs_find_symbol_fp(image, "test_queue_root", &address) == mqs_ok,
        "find_symbol");
  check(image_host->mqs_find_symbol_fp(image, "test_queue_root", NULL) == mqs_ok,
        "find_symbol without a result");
  check(image_host->mqs_find_symbol_fp(image, "no_such_symbol", &address) == mqs_no_information,
        "no such symbol");
  check(image_host->mqs_find_symbol_fp(image, NULL, &address) == mqs_no_information,
        "find_symbol(NULL)");
  check(image_host->mqs_find_function_fp(image, "test_function", mqs_lang_c, &address) == mqs_ok,
        "find_function");
  check(image_host->mqs_find_function_fp(image, "test_queue_root", mqs_lang_c, &address) ==
            mqs_no_information,
        "a variable is no function");
}

static void check_sizes(mqs_process* process) { // [5.2.3]
  struct {
    int before[4];
    mqs_target_type_sizes sizes;
    int after[4];
  } guarded;
  memset(&guarded, 0x5a, sizeof guarded);
  image_host->mqs_get_type_sizes_fp(process, &guarded.sizes);
  for (int i = 0; i < 4; ++i)
    check(guarded.before[i] == 0x5a5a5a5a && guarded.after[i] == 0x5a5a5a5a, "five sizes only");
  check(guarded.sizes.short_size == 2 && guarded.sizes.int_size == 4 &&
            guarded.sizes.long_size == 8 && guarded.sizes.long_long_size == 8 &&
            guarded.sizes.pointer_size == 8,
        "the sizes");
  image_host->mqs_get_type_sizes_fp(process, NULL);
}

static void check_memory_access(mqs_process* process,
                                const mqs_process_callbacks* callbacks) { // [5.6.20]
  char buffer[8192];
  mqs_taddr_t root = 0;
  image_host->mqs_find_symbol_fp(callbacks->mqs_get_image_fp(process), "test_queue_root", &root);
  const mqs_fetch_data_ft fetch = callbacks->mqs_fetch_data_fp;
  check(fetch(process, root, 8, buffer) == mqs_ok, "fetch");
  check(fetch(NULL, root, 8, buffer) == mqs_ok, "fetch without a process");
  check(fetch(process, root, 0, buffer) == mqs_ok, "fetch of 0 bytes");
  check(fetch(process, root, 0, NULL) == mqs_ok, "fetch of 0 bytes into NULL");
  check(fetch(process, root, 8, NULL) == mqs_no_information, "fetch into NULL");
  check(fetch(process, root, -8, buffer) == mqs_no_information, "fetch of -8 bytes");
  check(fetch(process, 0, 8, buffer) == mqs_no_information, "fetch from NULL");
  check(fetch(process, (mqs_taddr_t)-4, 8, buffer) == mqs_no_information, "fetch around the end");
  check(fetch(process, root, (int)sizeof buffer, buffer) == mqs_no_information,
        "fetch into a hole");
}

static void check_conversion(mqs_process* process,
                             const mqs_process_callbacks* callbacks) { // [5.6.21]
  const unsigned char in[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  unsigned char out[9];
  for (int size = 1; size <= 9; ++size) { // a little-endian target
    memset(out, 0, sizeof out);
    callbacks->mqs_target_to_host_fp(process, in, out, size);
    check(memcmp(in, out, (size_t)size) == 0, "target_to_host");
  }
  callbacks->mqs_target_to_host_fp(process, out, out, 3);
  check(memcmp(in, out, 9) == 0, "target_to_host in place");
  callbacks->mqs_target_to_host_fp(process, NULL, out, 8);
  callbacks->mqs_target_to_host_fp(process, in, NULL, 8);
  callbacks->mqs_target_to_host_fp(process, in, out, -1);
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  host = callbacks;
}
char* mqs_version_string(void) {
  return NULL;
}
int mqs_version_compatibility(void) {
  return MQS_INTERFACE_COMPATIBILITY_JOBS;
}
char* mqs_dll_error_string(int code) {
  return code == mqs_first_user_code ? failed_check : NULL;
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  const mqs_basic_callbacks_3* level_3 = (const mqs_basic_callbacks_3*)host;
  image_host = callbacks;
  check(host->mqs_get_image_info_fp(image) == NULL, "no image info yet");
  host->mqs_put_image_info_fp(image, (mqs_image_info*)failed_check);
  check(host->mqs_get_image_info_fp(NULL) == (mqs_image_info*)failed_check, "image info");
  level_3->mqs_put_job_info_fp(NULL, NULL);
  check(level_3->mqs_get_job_info_fp(NULL) == NULL, "job info");
  check_memory();
  check_types(image);
  return failed_check[0] == '\0' ? mqs_ok : mqs_first_user_code;
}

int mqs_image_has_queues(mqs_image* image, char** message) {
  (void)image;
  (void)message;
  return mqs_ok;
}

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  const mqs_process_callbacks_3* level_3 = (const mqs_process_callbacks_3*)callbacks;
  check(host->mqs_get_process_info_fp(process) == NULL, "no process info yet");
  check(callbacks->mqs_get_global_rank_fp(process) == 5, "global rank");
  mqs_job* job = level_3->mqs_get_process_job_fp(process);
  check(job != NULL, "a job");
  check(level_3->mqs_get_process_identity_fp(job) == 5, "identity by the job");
  check(level_3->mqs_get_process_identity_fp((mqs_job*)process) == 5, "identity");
  check(level_3->mqs_get_process_identity_fp(NULL) == MQS_INVALID_PROCESS, "no identity");
  check_sizes(process);
  check_memory_access(process, callbacks);
  check_conversion(process, callbacks);
  return failed_check[0] == '\0' ? mqs_ok : mqs_first_user_code;
}

int mqs_process_has_queues(mqs_process* process, char** message) {
  (void)process;
  (void)message;
  return mqs_ok;
}

int mqs_update_communicator_list(mqs_process* process) {
  return process != NULL ? mqs_ok : 1;
}
int mqs_setup_communicator_iterator(mqs_process* process) {
  return process != NULL ? mqs_end_of_list : mqs_first_user_code;
}
int mqs_get_communicator(mqs_process* process, mqs_communicator* out) {
  (void)process;
  (void)out;
  return mqs_first_user_code;
}
int mqs_next_communicator(mqs_process* process) {
  (void)process;
  return mqs_first_user_code;
}
int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  (void)process;
  (void)op_class;
  return mqs_first_user_code;
}
int mqs_next_operation(mqs_process* process, mqs_pending_operation* out) {
  (void)process;
  (void)out;
  return mqs_first_user_code;
}
