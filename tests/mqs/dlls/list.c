// A well-behaved debug DLL for the queues of test_target.h: communicators and operations in linked
// lists in the target's memory, read through every callback a real DLL uses. Like shipped DLLs it
// dereferences NULL when an iterator is used after its end.

#include "dll/mqs_interface.h"

#include <string.h>

struct communicator_fields {
  int next, id, rank, size, name, operations, members;
};

struct operation_fields {
  int next, op_class, rank, tag, length, buffer;
};

struct mqs_image_info_ {
  const mqs_image_callbacks* callbacks;
  struct communicator_fields communicator;
  struct operation_fields operation;
};

struct mqs_process_info_ {
  const mqs_process_callbacks* callbacks;
  mqs_target_type_sizes sizes;
  mqs_taddr_t root;
  mqs_taddr_t communicator; // 0: at the end
  mqs_taddr_t operation;
  int op_class;
  struct cursor {
    mqs_taddr_t address;
  } * next; // NULL after the end
  struct cursor cursor;
};

static const mqs_basic_callbacks* host;

static mqs_image_info* info_of(mqs_process* process) {
  const mqs_process_info* p = host->mqs_get_process_info_fp(process);
  return host->mqs_get_image_info_fp(p->callbacks->mqs_get_image_fp(process));
}

static mqs_taddr_t fetch_unsigned(mqs_process* process, mqs_taddr_t address, int size, int* code) {
  unsigned char raw[8];
  union {
    unsigned char u1;
    unsigned short u2;
    unsigned int u4;
    unsigned long u8;
  } value = {0};
  const mqs_process_callbacks* callbacks = host->mqs_get_process_info_fp(process)->callbacks;
  const int fetched = callbacks->mqs_fetch_data_fp(process, address, size, raw);
  if (fetched != mqs_ok) {
    *code = fetched;
    return 0;
  }
  callbacks->mqs_target_to_host_fp(process, raw, &value, size);
  return size == 2 ? value.u2 : size == 4 ? value.u4 : value.u8;
}

static mqs_taddr_t fetch_pointer(mqs_process* process, mqs_taddr_t address, int* code) {
  return fetch_unsigned(process, address,
                        host->mqs_get_process_info_fp(process)->sizes.pointer_size, code);
}

static mqs_tword_t fetch_int(mqs_process* process, mqs_taddr_t address, int* code) {
  return (int)fetch_unsigned(process, address,
                             host->mqs_get_process_info_fp(process)->sizes.int_size, code);
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  host = callbacks;
}
char* mqs_version_string(void) {
  return "list 1.0";
}
int mqs_version_compatibility(void) {
  return MQS_INTERFACE_COMPATIBILITY;
}
int mqs_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}

char* mqs_dll_error_string(int code) {
  return code == mqs_first_user_code ? "a list is broken" : "unknown";
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  mqs_image_info* info = host->mqs_malloc_fp(sizeof *info);
  if (info == NULL)
    return mqs_first_user_code;
  info->callbacks = callbacks;
  host->mqs_put_image_info_fp(image, info);
  return mqs_ok;
}

int mqs_image_has_queues(mqs_image* image, char** message) {
  mqs_image_info* info = host->mqs_get_image_info_fp(image);
  mqs_type* communicator =
      info->callbacks->mqs_find_type_fp(image, "struct test_communicator", mqs_lang_c);
  mqs_type* operation = info->callbacks->mqs_find_type_fp(image, "test_operation", mqs_lang_c);
  if (communicator == NULL || operation == NULL) {
    *message = "no types in %s";
    return mqs_first_user_code;
  }
  const mqs_field_offset_ft offset = info->callbacks->mqs_field_offset_fp;
  info->communicator = (struct communicator_fields){
      offset(communicator, "next"),   offset(communicator, "id"),
      offset(communicator, "rank"),   offset(communicator, "size"),
      offset(communicator, "name"),   offset(communicator, "operations"),
      offset(communicator, "members")};
  info->operation = (struct operation_fields){
      offset(operation, "next"), offset(operation, "op_class"), offset(operation, "rank"),
      offset(operation, "tag"),  offset(operation, "length"),   offset(operation, "buffer")};
  *message = NULL;
  return mqs_ok;
}

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  mqs_process_info* info = host->mqs_malloc_fp(sizeof *info);
  if (info == NULL)
    return mqs_first_user_code;
  info->callbacks = callbacks;
  host->mqs_put_process_info_fp(process, info);
  info_of(process)->callbacks->mqs_get_type_sizes_fp(process, &info->sizes);
  return mqs_ok;
}

int mqs_process_has_queues(mqs_process* process, char** message) {
  mqs_process_info* info = host->mqs_get_process_info_fp(process);
  const int code = info_of(process)->callbacks->mqs_find_symbol_fp(
      info->callbacks->mqs_get_image_fp(process), "test_queue_root", &info->root);
  *message = code == mqs_ok ? "queues of %s found" : "no root in %s";
  return code;
}

int mqs_update_communicator_list(mqs_process* process) {
  (void)process;
  return mqs_ok;
}

int mqs_setup_communicator_iterator(mqs_process* process) {
  mqs_process_info* info = host->mqs_get_process_info_fp(process);
  int code = mqs_ok;
  info->communicator = fetch_pointer(process, info->root, &code);
  if (code != mqs_ok)
    return code;
  return info->communicator != 0 ? mqs_ok : mqs_end_of_list;
}

int mqs_get_communicator(mqs_process* process, mqs_communicator* out) {
  const mqs_process_info* info = host->mqs_get_process_info_fp(process);
  const struct communicator_fields* fields = &info_of(process)->communicator;
  const mqs_taddr_t at = info->communicator;
  int code = mqs_ok;
  out->unique_id = fetch_pointer(process, at + (unsigned)fields->id, &code);
  out->local_rank = fetch_int(process, at + (unsigned)fields->rank, &code);
  out->size = fetch_int(process, at + (unsigned)fields->size, &code);
  if (code == mqs_ok)
    code = info->callbacks->mqs_fetch_data_fp(process, at + (unsigned)fields->name,
                                              sizeof out->name, out->name);
  return code;
}

int mqs_get_comm_group(mqs_process* process, int* ranks) {
  const mqs_process_info* info = host->mqs_get_process_info_fp(process);
  const struct communicator_fields* fields = &info_of(process)->communicator;
  int code = mqs_ok;
  const mqs_taddr_t members =
      fetch_pointer(process, info->communicator + (unsigned)fields->members, &code);
  const mqs_tword_t size = fetch_int(process, info->communicator + (unsigned)fields->size, &code);
  if (members == 0)
    return mqs_no_information;
  for (mqs_tword_t i = 0; code == mqs_ok && i < size; ++i)
    ranks[i] = (int)fetch_int(process, members + (mqs_taddr_t)(i * info->sizes.int_size), &code);
  return code;
}

int mqs_next_communicator(mqs_process* process) {
  mqs_process_info* info = host->mqs_get_process_info_fp(process);
  int code = mqs_ok;
  info->communicator = fetch_pointer(
      process, info->communicator + (unsigned)info_of(process)->communicator.next, &code);
  if (code != mqs_ok)
    return code;
  return info->communicator != 0 ? mqs_ok : mqs_end_of_list;
}

int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  mqs_process_info* info = host->mqs_get_process_info_fp(process);
  if (op_class == mqs_unexpected_messages)
    return mqs_no_information;
  int code = mqs_ok;
  info->op_class = op_class;
  info->cursor.address = fetch_pointer(
      process, info->communicator + (unsigned)info_of(process)->communicator.operations, &code);
  info->next = &info->cursor;
  return code;
}

int mqs_next_operation(mqs_process* process, mqs_pending_operation* out) {
  mqs_process_info* info = host->mqs_get_process_info_fp(process);
  const struct operation_fields* fields = &info_of(process)->operation;
  for (;;) {
    int code = mqs_ok;
    const mqs_taddr_t at = info->next->address;
    if (at == 0) {
      info->next = NULL;
      return mqs_end_of_list;
    }
    info->next->address = fetch_pointer(process, at + (unsigned)fields->next, &code);
    const mqs_tword_t op_class = fetch_int(process, at + (unsigned)fields->op_class, &code);
    if (code != mqs_ok)
      return mqs_first_user_code;
    if (op_class != info->op_class)
      continue;
    out->desired_local_rank = fetch_int(process, at + (unsigned)fields->rank, &code);
    out->desired_tag = fetch_int(process, at + (unsigned)fields->tag, &code);
    out->desired_length = (mqs_tword_t)fetch_unsigned(process, at + (unsigned)fields->length,
                                                      info->sizes.long_size, &code);
    out->buffer = fetch_pointer(process, at + (unsigned)fields->buffer, &code);
    strcpy(out->extra_text[0], "from a list");
    return code == mqs_ok ? mqs_ok : mqs_first_user_code;
  }
}

int mqs_destroy_process_info(mqs_process_info* info) {
  host->mqs_dprints_fp("process destroyed\n");
  host->mqs_free_fp(info);
  return mqs_ok;
}

int mqs_destroy_image_info(mqs_image_info* info) {
  host->mqs_dprints_fp("image destroyed\n");
  host->mqs_free_fp(info);
  return mqs_ok;
}
