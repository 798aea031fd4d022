/* The target's memory and symbols, and the host's memory. */

#include "dll/handles/memory.h"

#include <limits.h>
#include <string.h>

void* handles_allocate(size_t size) {
  void* const memory = handles_host->mqs_malloc_fp(size);
  if (memory != NULL)
    memset(memory, 0, size);
  return memory;
}

void* handles_array(size_t count, size_t size) {
  if (count > INT_MAX / size)
    return NULL;
  return handles_allocate((count > 0 ? count : 1) * size);
}

char* handles_text(const char* text) {
  const size_t size = strlen(text) + 1;
  char* const copy = handles_allocate(size);
  if (copy != NULL)
    memcpy(copy, text, size);
  return copy;
}

/* The interface takes char*, and no host writes there. */
static char* unwritten(const char* text) {
  return (char*)(uintptr_t)text;
}

mqs_taddr_t handles_symbol(const mqs_process_info* process, const char* name) {
  mqs_taddr_t address = 0;
  const int code =
      process->image_callbacks->mqs_find_symbol_fp(process->image, unwritten(name), &address);
  return code == mqs_ok ? address : 0;
}

mqs_type* handles_type(const mqs_process_info* process, const char* name) {
  return process->image_callbacks->mqs_find_type_fp(process->image, unwritten(name), mqs_lang_c);
}

int handles_offset(const mqs_process_info* process, const char* type, const char* field) {
  mqs_type* const found = handles_type(process, type);
  return found != NULL ? process->image_callbacks->mqs_field_offset_fp(found, unwritten(field))
                       : -1;
}

int handles_size(const mqs_process_info* process, const char* type) {
  mqs_type* const found = handles_type(process, type);
  return found != NULL ? process->image_callbacks->mqs_sizeof_fp(found) : -1;
}

int handles_fetch(const mqs_process_info* process, mqs_taddr_t address, size_t size, void* into) {
  return target_read(&process->target, address, size, into);
}

int handles_word(const mqs_process_info* process, mqs_taddr_t address, int size, uint64_t* value) {
  unsigned char bytes[sizeof *value];
  if (!handles_fetch(process, address, (size_t)size, bytes))
    return 0;
  switch (size) {
  case 1:
    *value = bytes[0];
    return 1;
  case 2:
    *value = target_u16(&process->target, bytes);
    return 1;
  case 4:
    *value = target_u32(&process->target, bytes);
    return 1;
  default:
    *value = target_u64(&process->target, bytes);
    return 1;
  }
}

int handles_int(const mqs_process_info* process, mqs_taddr_t address, int* value) {
  unsigned char bytes[sizeof(int32_t)];
  if (!handles_fetch(process, address, sizeof bytes, bytes))
    return 0;
  *value = target_i32(&process->target, bytes);
  return 1;
}

int handles_pointer(const mqs_process_info* process, mqs_taddr_t address, mqs_taddr_t* value) {
  return handles_word(process, address, process->target.address_size, value);
}

mqs_taddr_t handles_address_in(const mqs_process_info* process, const void* bytes) {
  const struct target* const target = &process->target;
  return target->address_size == 4 ? target_u32(target, bytes) : target_u64(target, bytes);
}

int handles_string(const mqs_process_info* process, mqs_taddr_t address, char* into, size_t size) {
  memset(into, 0, size);
  if (handles_fetch(process, address, size - 1, into))
    return 1;
  for (size_t i = 0; i + 1 < size; ++i) {
    if (!handles_fetch(process, address + i, 1, &into[i]))
      return 0;
    if (into[i] == '\0')
      return 1;
  }
  return 1;
}

int* handles_ints(const mqs_process_info* process, mqs_taddr_t address, int count) {
  _Static_assert(sizeof(int) == sizeof(int32_t), "ints are converted where they are");
  if (count < 0)
    return NULL;
  int* const values = handles_array((size_t)count, sizeof *values);
  if (values == NULL || count == 0)
    return values;
  if (!handles_fetch(process, address, (size_t)count * sizeof *values, values)) {
    handles_host->mqs_free_fp(values);
    return NULL;
  }
  for (int i = 0; i < count; ++i)
    values[i] = target_i32(&process->target, &values[i]);
  return values;
}

int handles_list_add(struct handle_list* list, mqs_taddr_t handle) {
  if (list->count == HANDLES_LISTED)
    return MPIDBG_ERR_UNAVAILABLE;
  if (list->count == list->room) {
    const int room = list->room > 0 ? 2 * list->room : 64;
    mqs_taddr_t* const more = handles_array((size_t)room, sizeof *more);
    if (more == NULL)
      return MPIDBG_ERR_NO_MEM;
    if (list->handles != NULL) {
      memcpy(more, list->handles, (size_t)list->count * sizeof *more);
      handles_host->mqs_free_fp(list->handles);
    }
    list->handles = more;
    list->room = room;
  }
  list->handles[list->count++] = handle;
  return MPIDBG_SUCCESS;
}
