// A debug DLL that reads one list of records and tells what every field of them holds. The layout
// is asked of the host, every value goes through mqs_fetch_data and mqs_target_to_host alone, and
// the widths of C types are those of mqs_get_type_sizes: what platforms_test.cpp compares with what
// it wrote.
//
// Each record is one pending receive; each of its fields stands in a line of extra_text, as a
// hexadecimal number of its full width, an array element by element. What a field is its name says:
// "s0" short, "i0" int, "l0" long, "L0" long long, "p0" pointer, "a0" seven ints, "b9_0" 9 bytes.

#include "dll/mqs_interface.h"

#include <stdio.h>
#include <string.h>

enum { widest = 16, array_elements = 7 };

static const mqs_basic_callbacks* host;
static const mqs_image_callbacks* image_host;
static const mqs_process_callbacks* process_host;
static mqs_target_type_sizes sizes;
static mqs_type* record;
static mqs_taddr_t root, first, next;
static struct { int offset, width, count; } fields[MQS_EXTRA_LINES];
static int field_count;

static int find_field(const char* format, int index, int width) {
  char name[16];
  snprintf(name, sizeof name, format, index);
  const int offset = image_host->mqs_field_offset_fp(record, name);
  if (offset < 0)
    return 0;
  fields[index].offset = offset;
  fields[index].width = width;
  fields[index].count = format[0] == 'a' ? array_elements : 1;
  return 1;
}

static int find_fields(void) {
  for (field_count = 0; field_count < MQS_EXTRA_LINES; ++field_count) {
    int found = find_field("s%d", field_count, sizes.short_size) ||
                find_field("i%d", field_count, sizes.int_size) ||
                find_field("l%d", field_count, sizes.long_size) ||
                find_field("L%d", field_count, sizes.long_long_size) ||
                find_field("p%d", field_count, sizes.pointer_size) ||
                find_field("a%d", field_count, sizes.int_size);
    for (int width = 1; !found && width <= widest; ++width) {
      char format[16];
      snprintf(format, sizeof format, "b%d_%%d", width);
      found = find_field(format, field_count, width);
    }
    if (!found)
      break;
  }
  return field_count;
}

/// All elements in one fetch, each converted on its own.
static int print_field(mqs_process* process, mqs_taddr_t record_at, int index, char* text) {
  unsigned char raw[array_elements * widest], value[widest];
  const int width = fields[index].width, count = fields[index].count;
  const mqs_taddr_t at = record_at + (mqs_taddr_t)fields[index].offset;
  const int code = process_host->mqs_fetch_data_fp(process, at, width * count, raw);
  for (int element = 0; code == mqs_ok && element < count; ++element) {
    process_host->mqs_target_to_host_fp(process, raw + element * width, value, width);
    for (int byte = width; byte-- > 0;) // the host is little-endian
      text += sprintf(text, "%02x", value[byte]);
  }
  return code;
}

/// Sign-extended, as several shipped DLLs do with the pointers of 32-bit targets.
static int fetch_pointer(mqs_process* process, mqs_taddr_t address, mqs_taddr_t* pointer) {
  union {
    unsigned char bytes[widest];
    int narrow;
    long long wide;
  } value;
  unsigned char raw[widest];
  const int code = process_host->mqs_fetch_data_fp(process, address, sizes.pointer_size, raw);
  if (code != mqs_ok)
    return code;
  process_host->mqs_target_to_host_fp(process, raw, value.bytes, sizes.pointer_size);
  *pointer = (mqs_taddr_t)(sizes.pointer_size == 4 ? value.narrow : value.wide);
  return mqs_ok;
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  host = callbacks;
}
char* mqs_version_string(void) {
  return "properties 1.0";
}
int mqs_version_compatibility(void) {
  return MQS_INTERFACE_COMPATIBILITY;
}
int mqs_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}
char* mqs_dll_error_string(int code) {
  return code == mqs_first_user_code ? "the records are not what they should be" : "unknown";
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  (void)image;
  image_host = callbacks;
  return mqs_ok;
}

int mqs_image_has_queues(mqs_image* image, char** message) {
  *message = NULL;
  record = image_host->mqs_find_type_fp(image, "struct test_record", mqs_lang_c);
  return record != NULL ? mqs_ok : mqs_first_user_code;
}

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  process_host = callbacks;
  image_host->mqs_get_type_sizes_fp(process, &sizes);
  return mqs_ok;
}

int mqs_process_has_queues(mqs_process* process, char** message) {
  *message = NULL;
  if (find_fields() == 0)
    return mqs_first_user_code;
  return image_host->mqs_find_symbol_fp(process_host->mqs_get_image_fp(process), "test_queue_root",
                                        &root);
}

/// Follows the list to its end, as DLLs do that look for communicators.
int mqs_update_communicator_list(mqs_process* process) {
  const mqs_taddr_t link = (mqs_taddr_t)image_host->mqs_field_offset_fp(record, "next");
  int code = fetch_pointer(process, root, &first);
  for (mqs_taddr_t at = first; code == mqs_ok && at != 0;)
    code = fetch_pointer(process, at + link, &at);
  return code;
}
int mqs_setup_communicator_iterator(mqs_process* process) {
  (void)process;
  return first != 0 ? mqs_ok : mqs_end_of_list;
}
int mqs_get_communicator(mqs_process* process, mqs_communicator* out) {
  (void)process;
  out->unique_id = (mqs_taddr_t)(int)0x80001234; // as a DLL gives it that sign-extends
  out->size = 1;
  out->local_rank = 0;
  strcpy(out->name, "records");
  return mqs_ok;
}
int mqs_next_communicator(mqs_process* process) {
  (void)process;
  return mqs_end_of_list;
}

int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  (void)process;
  next = first;
  return op_class == mqs_pending_receives ? mqs_ok : mqs_no_information;
}

int mqs_next_operation(mqs_process* process, mqs_pending_operation* out) {
  if (next == 0)
    return mqs_end_of_list;
  for (int i = 0; i < field_count; ++i)
    if (print_field(process, next, i, out->extra_text[i]) != mqs_ok)
      return mqs_first_user_code;
  out->buffer = next;
  const int link = image_host->mqs_field_offset_fp(record, "next");
  return fetch_pointer(process, next + (mqs_taddr_t)link, &next);
}
