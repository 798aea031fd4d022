// A debug DLL of somebody else's, who knows version 1 of the handle interface alone (part 1 of
// dll/mpidbg_interface.h) and has some of its functions: communicators, which it names, and nothing
// of requests, statuses and error handlers. It reads the communicators of test_target.h: a handle
// is the address of one, and a Fortran handle its place in the list.

#include "dll/mpidbg_interface.h"

#include <string.h>

enum { most = 16 };

struct mqs_image_info_ {
  const mqs_image_callbacks* calls;
  int next, rank, size, name, members;
  mqs_taddr_t root;
};

struct mqs_process_info_ {
  const mqs_process_callbacks* calls;
  mqs_target_type_sizes sizes;
};

char mpidbg_dll_is_big_endian = 0;
char mpidbg_dll_bitness = 64;
enum mpidbg_comm_capabilities_t mpidbg_comm_capabilities;
struct mpidbg_name_map_t* mpidbg_comm_name_map;

static const mqs_basic_callbacks* host;

int mpidbg_init_once(const mqs_basic_callbacks* callbacks) {
  host = callbacks;
  return MPIDBG_SUCCESS;
}

int mpidbg_interface_version_compatibility(void) {
  return MPIDBG_INTERFACE_VERSION;
}

char* mpidbg_version_string(void) {
  return "handles of version 1";
}

int mpidbg_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}

int mpidbg_init_per_image(mqs_image* image, const mqs_image_callbacks* callbacks,
                          struct mpidbg_handle_info_t* types) {
  mqs_type* type = callbacks->mqs_find_type_fp(image, "struct test_communicator", mqs_lang_c);
  mqs_image_info* info = host->mqs_malloc_fp(sizeof *info);
  if (type == NULL || info == NULL)
    return MPIDBG_ERR_NOT_SUPPORTED;
  info->calls = callbacks;
  info->next = callbacks->mqs_field_offset_fp(type, "next");
  info->rank = callbacks->mqs_field_offset_fp(type, "rank");
  info->size = callbacks->mqs_field_offset_fp(type, "size");
  info->name = callbacks->mqs_field_offset_fp(type, "name");
  info->members = callbacks->mqs_field_offset_fp(type, "members");
  if (callbacks->mqs_find_symbol_fp(image, "test_queue_root", &info->root) != mqs_ok)
    return MPIDBG_ERR_NOT_SUPPORTED;
  types->hi_c_comm = type;
  host->mqs_put_image_info_fp(image, info);
  return MPIDBG_SUCCESS;
}

static int fetch(mqs_process* process, mqs_taddr_t address, int size, mqs_taddr_t* value) {
  const mqs_process_callbacks* calls = host->mqs_get_process_info_fp(process)->calls;
  char raw[8];
  uint32_t narrow = 0;
  if (calls->mqs_fetch_data_fp(process, address, size, raw) != mqs_ok)
    return MPIDBG_ERR_UNAVAILABLE;
  calls->mqs_target_to_host_fp(process, raw, size == 4 ? (void*)&narrow : (void*)value, size);
  if (size == 4)
    *value = narrow;
  return MPIDBG_SUCCESS;
}

static int fetch_pointer(mqs_process* process, mqs_taddr_t address, mqs_taddr_t* value) {
  return fetch(process, address, host->mqs_get_process_info_fp(process)->sizes.pointer_size, value);
}

/// The addresses of all communicators of the process; returns how many.
static int list(mqs_process* process, const mqs_image_info* info, mqs_taddr_t into[most]) {
  mqs_taddr_t at = 0;
  int count = 0;
  int code = fetch_pointer(process, info->root, &at);
  while (code == MPIDBG_SUCCESS && at != 0 && count < most) {
    into[count++] = at;
    code = fetch_pointer(process, at + (mqs_taddr_t)info->next, &at);
  }
  return count;
}

int mpidbg_init_per_process(mqs_process* process, const mqs_process_callbacks* callbacks,
                            struct mpidbg_handle_info_t* types) {
  (void)types;
  mqs_process_info* info = host->mqs_malloc_fp(sizeof *info);
  if (info == NULL)
    return MPIDBG_ERR_NO_MEM;
  info->calls = callbacks;
  host->mqs_put_process_info_fp(process, info);
  const mqs_image_info* of_image =
      host->mqs_get_image_info_fp(callbacks->mqs_get_image_fp(process));
  of_image->calls->mqs_get_type_sizes_fp(process, &info->sizes);
  mqs_taddr_t handles[most];
  const int count = list(process, of_image, handles);
  mpidbg_comm_name_map = host->mqs_malloc_fp(sizeof(struct mpidbg_name_map_t) * (most + 1));
  for (int i = 0; i < count; ++i)
    mpidbg_comm_name_map[i] = (struct mpidbg_name_map_t){"MPI_COMM_SOMETHING", handles[i]};
  mpidbg_comm_capabilities = (enum mpidbg_comm_capabilities_t)(
      MPIDBG_COMM_CAP_BASIC | MPIDBG_COMM_CAP_STRING_NAMES | MPIDBG_COMM_CAP_FREED_HANDLE);
  return MPIDBG_SUCCESS;
}

void mpidbg_finalize_per_process(mqs_process* process, mqs_process_info* info) {
  host->mqs_put_process_info_fp(process, NULL);
  host->mqs_free_fp(info);
}

void mpidbg_finalize_per_image(mqs_image* image, mqs_image_info* info) {
  host->mqs_put_image_info_fp(image, NULL);
  host->mqs_free_fp(info);
}

static struct mpidbg_process_t* fetch_group(mqs_process* process, mqs_taddr_t at, int size) {
  struct mpidbg_process_t* group = host->mqs_malloc_fp(sizeof *group * (size_t)size);
  for (int i = 0; i < size; ++i) {
    mqs_taddr_t rank = 0;
    if (fetch(process, at + 4 * (mqs_taddr_t)i, 4, &rank) != MPIDBG_SUCCESS)
      return NULL;
    group[i].mpi_comm_world_rank = (int)rank;
  }
  return group;
}

int mpidbg_comm_query(MPIDBG_OF, mqs_taddr_t comm, struct mpidbg_comm_info_t** answer) {
  (void)image;
  mqs_taddr_t handles[most];
  const int count = list(process, image_info, handles);
  int number = 0;
  while (number < count && handles[number] != comm)
    ++number;
  if (number == count)
    return MPIDBG_ERR_NOT_FOUND;
  struct mpidbg_comm_info_t* info = host->mqs_malloc_fp(sizeof *info);
  mqs_taddr_t rank = 0, size = 0, members = 0;
  const int int_size = process_info->sizes.int_size;
  if (fetch(process, comm + (mqs_taddr_t)image_info->rank, int_size, &rank) != MPIDBG_SUCCESS ||
      fetch(process, comm + (mqs_taddr_t)image_info->size, int_size, &size) != MPIDBG_SUCCESS ||
      fetch_pointer(process, comm + (mqs_taddr_t)image_info->members, &members) != MPIDBG_SUCCESS ||
      process_info->calls->mqs_fetch_data_fp(process, comm + (mqs_taddr_t)image_info->name,
                                             MPIDBG_MAX_OBJECT_NAME, info->comm_name) != mqs_ok)
    return MPIDBG_ERR_UNAVAILABLE;
  info->comm_bitflags = number == 0 ? MPIDBG_COMM_INFO_PREDEFINED : 0;
  info->comm_rank = (int)rank;
  info->comm_size = info->comm_num_local_procs = (int)size;
  info->comm_local_procs = fetch_group(process, members, (int)size);
  info->comm_c_handle = comm;
  info->comm_fortran_handle = number;
  info->comm_num_attrs = MPIDBG_ERR_NOT_SUPPORTED;
  info->comm_num_pending_requests = MPIDBG_ERR_NOT_SUPPORTED;
  *answer = info;
  return MPIDBG_SUCCESS;
}

int mpidbg_comm_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* comm) {
  (void)image, (void)process_info;
  mqs_taddr_t handles[most];
  if (fortran >= (mqs_taddr_t)list(process, image_info, handles))
    return MPIDBG_ERR_NOT_FOUND;
  *comm = handles[fortran];
  return MPIDBG_SUCCESS;
}
