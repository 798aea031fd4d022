// A debug DLL of level 3: what it says of a process is what it knows of its job by then. One
// communicator each, whose name is "NUMBER:IDENTITY:EARLIER": the how manyth process of the job it
// is, its identity, and how many earlier ones of identity 0 to 9 are known, with their infos, while
// nothing more is read of them. Its id is what lies at test_queue_root. With BEHAVIOUR one that
// misbehaves.

#include "dll/mqs_interface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum behaviour {
  KEEPS_A_JOB,
  SETUP_JOB_FAILS,
  SECOND_FAILS,
  SECOND_CRASHES,
  FIRST_LASTS,
  CRASHES_WITH_THE_JOB
};

struct mqs_job_info_ {
  int processes;
};

struct mqs_process_info_ {
  int number;       // in its job
  mqs_taddr_t root; // where it lies
  const mqs_process_callbacks_3* callbacks;
  int has_communicator;
};

struct mqs_image_info_ {
  const mqs_image_callbacks* callbacks;
};

static const mqs_basic_callbacks_3* host;
static const mqs_job_callbacks* jobs;

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  if (host != NULL)
    abort(); // once for all processes
  host = (const mqs_basic_callbacks_3*)callbacks;
}
char* mqs_version_string(void) {
  return "jobs 1.0";
}
int mqs_version_compatibility(void) {
  return MQS_INTERFACE_COMPATIBILITY_JOBS;
}
int mqs_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}
char* mqs_dll_error_string(int code) {
  return code == mqs_first_user_code ? "not this one" : "unknown";
}

int mqs_setup_job(mqs_job* job, const mqs_job_callbacks* callbacks) {
  if (jobs != NULL || host->mqs_get_job_info_fp(job) != NULL)
    abort();
  if (BEHAVIOUR == SETUP_JOB_FAILS)
    return mqs_first_user_code;
  jobs = callbacks;
  host->mqs_put_job_info_fp(job, host->level_2.mqs_malloc_fp(sizeof(mqs_job_info)));
  return mqs_ok;
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  mqs_image_info* info = host->level_2.mqs_malloc_fp(sizeof *info);
  info->callbacks = callbacks;
  host->level_2.mqs_put_image_info_fp(image, info);
  return mqs_ok;
}
int mqs_image_has_queues(mqs_image* image, char** message) {
  (void)image;
  *message = NULL;
  return mqs_ok;
}

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  const mqs_process_callbacks_3* of_process = (const mqs_process_callbacks_3*)callbacks;
  mqs_job* job = of_process->mqs_get_process_job_fp(process);
  mqs_job_info* of_job = host->mqs_get_job_info_fp(job);
  mqs_process_info* info = host->level_2.mqs_malloc_fp(sizeof *info);
  info->number = ++of_job->processes;
  info->callbacks = of_process;
  host->level_2.mqs_put_process_info_fp(process, info);
  if (BEHAVIOUR == FIRST_LASTS && info->number == 1)
    for (volatile int rounds = 0;; ++rounds) {
    }
  if (BEHAVIOUR == SECOND_CRASHES && info->number == 2)
    abort();
  return BEHAVIOUR == SECOND_FAILS && info->number == 2 ? mqs_first_user_code : mqs_ok;
}
int mqs_process_has_queues(mqs_process* process, char** message) {
  (void)process;
  *message = NULL;
  return mqs_ok;
}

int mqs_update_communicator_list(mqs_process* process) {
  (void)process;
  return mqs_ok;
}
int mqs_setup_communicator_iterator(mqs_process* process) {
  host->level_2.mqs_get_process_info_fp(process)->has_communicator = 1;
  return mqs_ok;
}

static int read_root(mqs_process* process, mqs_taddr_t* root) {
  mqs_process_info* info = host->level_2.mqs_get_process_info_fp(process);
  const mqs_process_callbacks* callbacks = &info->callbacks->level_2;
  mqs_image* image = callbacks->mqs_get_image_fp(process);
  const mqs_image_callbacks* of_image = host->level_2.mqs_get_image_info_fp(image)->callbacks;
  mqs_target_type_sizes sizes;
  of_image->mqs_get_type_sizes_fp(process, &sizes);
  int code = of_image->mqs_find_symbol_fp(image, "test_queue_root", &info->root);
  *root = 16; // no world's
  if (code != mqs_ok)
    return mqs_ok; // a real process, which has none
  unsigned char raw[8];
  code = callbacks->mqs_fetch_data_fp(process, info->root, sizes.pointer_size, raw);
  unsigned int narrow = 0;
  if (code == mqs_ok && sizes.pointer_size == 4) {
    callbacks->mqs_target_to_host_fp(process, raw, &narrow, 4);
    *root = narrow;
  } else if (code == mqs_ok) {
    callbacks->mqs_target_to_host_fp(process, raw, root, 8);
  }
  return code;
}

// Known with its info, of this identity, and not to be read any more.
static int is_earlier(mqs_process* process, int identity) {
  const mqs_process_info* info = host->level_2.mqs_get_process_info_fp(process);
  const mqs_process_callbacks* callbacks = &info->callbacks->level_2;
  mqs_image* image = callbacks->mqs_get_image_fp(process);
  const mqs_image_info* of_image = host->level_2.mqs_get_image_info_fp(image);
  mqs_taddr_t address = 0;
  char byte;
  return callbacks->mqs_get_global_rank_fp(process) == identity &&
         info->callbacks->mqs_get_process_identity_fp((mqs_job*)process) == identity &&
         of_image->callbacks->mqs_find_symbol_fp(image, "test_queue_root", &address) != mqs_ok &&
         of_image->callbacks->mqs_find_type_fp(image, "test_operation", mqs_lang_c) == NULL &&
         callbacks->mqs_fetch_data_fp(process, info->root, 1, &byte) != mqs_ok;
}

int mqs_get_communicator(mqs_process* process, mqs_communicator* communicator) {
  const mqs_process_info* info = host->level_2.mqs_get_process_info_fp(process);
  mqs_job* job = info->callbacks->mqs_get_process_job_fp(process);
  const int identity = info->callbacks->mqs_get_process_identity_fp(job);
  int earlier = 0;
  for (int i = 0; i < 10; ++i) {
    mqs_process* other = jobs->mqs_get_process_fp(job, i);
    if (other != NULL && other != process)
      earlier += is_earlier(other, i);
  }
  if (identity >= 0 && jobs->mqs_get_process_fp(job, identity) != process)
    abort();
  *communicator = (mqs_communicator){.local_rank = 0, .size = 1};
  snprintf(communicator->name, sizeof communicator->name, "%d:%d:%d", info->number, identity,
           earlier);
  return read_root(process, &communicator->unique_id);
}
int mqs_get_comm_group(mqs_process* process, int* ranks) {
  (void)process;
  ranks[0] = 0;
  return mqs_ok;
}
int mqs_next_communicator(mqs_process* process) {
  (void)process;
  return mqs_end_of_list;
}
int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  (void)process;
  (void)op_class;
  return mqs_no_information;
}
int mqs_next_operation(mqs_process* process, mqs_pending_operation* operation) {
  (void)process;
  (void)operation;
  return mqs_end_of_list;
}

int mqs_destroy_process_info(mqs_process_info* info) {
  char byte;
  printf("process %d is over\n", info->number);
  if (info->callbacks->level_2.mqs_fetch_data_fp(NULL, info->root, 1, &byte) == mqs_ok)
    printf("and is read\n");
  host->level_2.mqs_free_fp(info);
  return mqs_ok;
}
int mqs_destroy_job_info(mqs_job_info* info) {
  char text[64];
  snprintf(text, sizeof text, "the job of %d is over", info->processes);
  host->level_2.mqs_dprints_fp(text);
  if (BEHAVIOUR == CRASHES_WITH_THE_JOB)
    abort();
  host->level_2.mqs_free_fp(info);
  return mqs_ok;
}
int mqs_destroy_image_info(mqs_image_info* info) {
  printf("an image is over\n");
  host->level_2.mqs_free_fp(info);
  return mqs_ok;
}
