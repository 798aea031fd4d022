#ifndef MQBRIDGE_DLL_MQS_INTERFACE_H
#define MQBRIDGE_DLL_MQS_INTERFACE_H

/* The MPI Message Queue Dumping interface, version 1.0: the C ABI between a debugger (the host) and
 * an MPI library's debug DLL. Written from the interface documents; numbers in brackets are
 * sections of "The MPI Message Queue Dumping Interface Version 1.0". Where documents and shipped
 * DLLs differ, this is what shipped DLLs do, and the comment says so.
 *
 * For DLLs and for hosts; C17 and C++. Layouts are those of 64-bit hosts: mqs_tword_t and
 * mqs_taddr_t are 64 bits wide whatever the target is. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [5.2] Target-independent integers: at least as wide as any target's long and void*. */
typedef int64_t mqs_tword_t;
typedef uint64_t mqs_taddr_t;

/* [5.2.3] Sizes in bytes. Exactly five ints: Open MPI's own header has seven, but a host that
 * writes more than five overruns the structures of every other DLL. */
typedef struct {
  int short_size;
  int int_size;
  int long_size;
  int long_long_size;
  int pointer_size;
} mqs_target_type_sizes;

/* [5.3] Opaque. The host owns images, processes and types; the DLL owns the infos. The jobs belong
 * to compatibility level 3. */
typedef struct mqs_image_ mqs_image;
typedef struct mqs_process_ mqs_process;
typedef struct mqs_type_ mqs_type;
typedef struct mqs_job_ mqs_job;
typedef struct mqs_image_info_ mqs_image_info;
typedef struct mqs_process_info_ mqs_process_info;
typedef struct mqs_job_info_ mqs_job_info;

/* [5.4.1] */
typedef enum {
  mqs_lang_c = 'c',
  mqs_lang_cplus = 'C',
  mqs_lang_f77 = 'f',
  mqs_lang_f90 = 'F'
} mqs_lang_code;

/* [5.4.2] */
typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;

/* [5.4.3] What mqs_version_compatibility() answers. Level 3 (built with FOR_MPI2) appends members
 * to two callback tables. */
enum { MQS_INTERFACE_COMPATIBILITY = 2, MQS_INTERFACE_COMPATIBILITY_JOBS = 3 };

/* [5.4.4] */
enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };

/* [5.4.5] The mqs_true and mqs_false of [5.10] do not exist: any non-zero code ends an iteration.
 */
enum { mqs_ok = 0, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };

/* [5.4.6] Also what desired_local_rank holds for MPI_ANY_SOURCE. */
enum { MQS_INVALID_PROCESS = -1 };

enum { MQS_NAME_LENGTH = 64, MQS_EXTRA_LINES = 5, MQS_EXTRA_LENGTH = 64 };

/* [5.5.1] */
typedef struct {
  mqs_taddr_t unique_id;
  mqs_tword_t local_rank;
  mqs_tword_t size;
  char name[MQS_NAME_LENGTH];
} mqs_communicator;

/* [5.5.2] */
typedef struct {
  int status; /* enum mqs_status */
  mqs_tword_t desired_local_rank;
  mqs_tword_t desired_global_rank;
  int tag_wild;
  mqs_tword_t desired_tag;    /* meaningful when tag_wild is 0; the 1.0 text has it backwards */
  mqs_tword_t desired_length; /* bytes; some DLLs give elements */
  int system_buffer;
  mqs_taddr_t buffer;
  /* For sends, and for receives once matched or complete. */
  mqs_tword_t actual_local_rank;
  mqs_tword_t actual_global_rank;
  mqs_tword_t actual_tag;
  mqs_tword_t actual_length;
  char extra_text[MQS_EXTRA_LINES][MQS_EXTRA_LENGTH]; /* up to the first empty line */
} mqs_pending_operation;

/* [5.6.2 - 5.6.9] */
typedef void* (*mqs_malloc_ft)(size_t size);
typedef void (*mqs_free_ft)(void* buffer);
typedef void (*mqs_dprints_ft)(const char* text);
typedef char* (*mqs_errorstring_ft)(int error_code);
typedef void (*mqs_put_image_info_ft)(mqs_image* image, mqs_image_info* info);
typedef mqs_image_info* (*mqs_get_image_info_ft)(mqs_image* image);
typedef void (*mqs_put_process_info_ft)(mqs_process* process, mqs_process_info* info);
typedef mqs_process_info* (*mqs_get_process_info_ft)(mqs_process* process);

/* [5.6.1] mqs_dprints_fp is third; the draft that leaves it out is wrong. */
typedef struct mqs_basic_callbacks {
  mqs_malloc_ft mqs_malloc_fp;
  mqs_free_ft mqs_free_fp;
  mqs_dprints_ft mqs_dprints_fp;
  mqs_errorstring_ft mqs_errorstring_fp;
  mqs_put_image_info_ft mqs_put_image_info_fp;
  mqs_get_image_info_ft mqs_get_image_info_fp;
  mqs_put_process_info_ft mqs_put_process_info_fp;
  mqs_get_process_info_ft mqs_get_process_info_fp;
} mqs_basic_callbacks;

/* [5.6.11 - 5.6.16] */
typedef void (*mqs_get_type_sizes_ft)(mqs_process* process, mqs_target_type_sizes* sizes);
typedef int (*mqs_find_function_ft)(mqs_image* image, char* name, mqs_lang_code language,
                                    mqs_taddr_t* address);
typedef int (*mqs_find_symbol_ft)(mqs_image* image, char* name, mqs_taddr_t* address);
typedef mqs_type* (*mqs_find_type_ft)(mqs_image* image, char* name, mqs_lang_code language);
typedef int (*mqs_field_offset_ft)(mqs_type* type, char* field);
typedef int (*mqs_sizeof_ft)(mqs_type* type);

/* [5.6.10] */
typedef struct mqs_image_callbacks {
  mqs_get_type_sizes_ft mqs_get_type_sizes_fp;
  mqs_find_function_ft mqs_find_function_fp;
  mqs_find_symbol_ft mqs_find_symbol_fp;
  mqs_find_type_ft mqs_find_type_fp;
  mqs_field_offset_ft mqs_field_offset_fp;
  mqs_sizeof_ft mqs_sizeof_fp;
} mqs_image_callbacks;

/* [5.6.18 - 5.6.21] */
typedef int (*mqs_get_global_rank_ft)(mqs_process* process);
typedef mqs_image* (*mqs_get_image_ft)(mqs_process* process);
typedef int (*mqs_fetch_data_ft)(mqs_process* process, mqs_taddr_t address, int size, void* buffer);
typedef void (*mqs_target_to_host_ft)(mqs_process* process, const void* in, void* out, int size);

/* [5.6.17] */
typedef struct mqs_process_callbacks {
  mqs_get_global_rank_ft mqs_get_global_rank_fp;
  mqs_get_image_ft mqs_get_image_fp;
  mqs_fetch_data_ft mqs_fetch_data_fp;
  mqs_target_to_host_ft mqs_target_to_host_fp;
} mqs_process_callbacks;

/* Level 3 (FOR_MPI2 in shipped headers; no document has it): the same tables with members appended,
 * so that a DLL of either level can use them. A job owns the processes of one MPI_COMM_WORLD; an
 * identity is the rank there. */
typedef void (*mqs_put_job_info_ft)(mqs_job* job, mqs_job_info* info);
typedef mqs_job_info* (*mqs_get_job_info_ft)(mqs_job* job);
typedef mqs_job* (*mqs_get_process_job_ft)(mqs_process* process);
/* Shipped headers say "given a process", and mqs_job*. mqbridge takes either. For a job it answers
 * with the identity of the process about which it asks the DLL. -1: not known. */
typedef int (*mqs_get_process_identity_ft)(mqs_job* job);
/* NULL: no process of this identity has been seen. */
typedef mqs_process* (*mqs_get_process_ft)(mqs_job* job, int identity);

typedef struct {
  mqs_basic_callbacks level_2;
  mqs_put_job_info_ft mqs_put_job_info_fp;
  mqs_get_job_info_ft mqs_get_job_info_fp;
} mqs_basic_callbacks_3;

typedef struct {
  mqs_process_callbacks level_2;
  mqs_get_process_job_ft mqs_get_process_job_fp;
  mqs_get_process_identity_ft mqs_get_process_identity_fp;
} mqs_process_callbacks_3;

typedef struct mqs_job_callbacks {
  mqs_get_process_ft mqs_get_process_fp;
} mqs_job_callbacks;

/* [5.7] Provided by the DLL. The tables stay the host's, and valid as long as the DLL is loaded;
 * strings stay the DLL's. */
void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks);
char* mqs_version_string(void);
int mqs_version_compatibility(void);
int mqs_dll_taddr_width(void); /* optional in the field */
char* mqs_dll_error_string(int error_code);

/* [5.8] `message`: may be set whatever the result is; at most one %s, for the image's name. */
int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks);
int mqs_image_has_queues(mqs_image* image, char** message);
/* Optional. void in shipped headers: a host never reads the result. */
int mqs_destroy_image_info(mqs_image_info* info);

/* Level 3, optional. The first is called before the job's first process, the second after its last
 * one: the infos of the processes are gone by then, those of the images are not. */
int mqs_setup_job(mqs_job* job, const mqs_job_callbacks* callbacks);
int mqs_destroy_job_info(mqs_job_info* info); /* as mqs_destroy_image_info */

/* [5.9] */
int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks);
int mqs_process_has_queues(mqs_process* process, char** message);
int mqs_destroy_process_info(mqs_process_info* info); /* as mqs_destroy_image_info */

/* [5.10] One iteration of each kind at a time. After a non-zero code never call the iterator's next
 * function again: shipped DLLs dereference NULL there. */
int mqs_update_communicator_list(mqs_process* process);
int mqs_setup_communicator_iterator(mqs_process* process);
int mqs_get_communicator(mqs_process* process, mqs_communicator* communicator);
int mqs_get_comm_group(mqs_process* process, int* ranks); /* optional */
int mqs_next_communicator(mqs_process* process);
int mqs_setup_operation_iterator(mqs_process* process, int op_class);
int mqs_next_operation(mqs_process* process, mqs_pending_operation* operation);

#ifdef __cplusplus
}
#endif

#endif
