/* The setup from the host's callbacks to a process whose MPI is known. */

#include "dll/handles/reader.h"
#include "dll/queues/errors.h"

#include <stdio.h>

const mqs_basic_callbacks* handles_host;

/* The entry points ask the readers in this order: an MPI's own memory tells the present state; a
 * recorder adds the calls. */
static const struct reader* const readers[] = {&handles_openmpi, &handles_mpich, &handles_recorder};
enum { READERS = sizeof readers / sizeof *readers };
_Static_assert((int)READERS <= (int)HANDLES_READERS, "room for those of one process");

char mpidbg_dll_is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
char mpidbg_dll_bitness = (char)(8 * sizeof(void*));
enum mpidbg_comm_capabilities_t mpidbg_comm_capabilities;
enum mpidbg_errhandler_capabilities_t mpidbg_errhandler_capabilities;
struct mpidbg_name_map_t* mpidbg_comm_name_map;
struct mpidbg_name_map_t* mpidbg_errhandler_name_map;

/* The names in the process that was set up last: the interface has one map of each kind. */
static struct name_map comm_names, errhandler_names;

/* The code of the recorder's lists calls this when it finds damage (dll/queues/recorded.c). The
 * interface has no texts for codes. */
int queues_fault(int code, const char* what, mqs_taddr_t address) {
  char line[128];
  snprintf(line, sizeof line, "%s at 0x%llx: unreadable, or damaged\n", what,
           (unsigned long long)address);
  handles_host->mqs_dprints_fp(line);
  return code;
}

int mpidbg_init_once(const mqs_basic_callbacks* callbacks) {
  handles_host = callbacks;
  return MPIDBG_SUCCESS;
}

int mpidbg_interface_version_compatibility(void) {
  return MPIDBG_INTERFACE_VERSION;
}

int mpidbg_extension_version(void) {
  return MPIDBG_EXTENSION_VERSION;
}

char* mpidbg_version_string(void) {
  return "mqbridge-handles";
}

int mpidbg_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}

static int has_symbol(mqs_image* image, const mqs_image_callbacks* callbacks, const char* name) {
  mqs_taddr_t address = 0;
  return callbacks->mqs_find_symbol_fp(image, (char*)(uintptr_t)name, &address) == mqs_ok;
}

int mpidbg_init_per_image(mqs_image* image, const mqs_image_callbacks* callbacks,
                          struct mpidbg_handle_info_t* handle_types) {
  *handle_types = (struct mpidbg_handle_info_t){0}; /* known with the process */
  int known = 0;
  for (int i = 0; i < READERS; ++i)
    known |= has_symbol(image, callbacks, readers[i]->symbol);
  if (!known)
    return MPIDBG_ERR_NOT_SUPPORTED;
  mqs_image_info* const info = handles_allocate(sizeof *info);
  if (info == NULL)
    return MPIDBG_ERR_NO_MEM;
  info->callbacks = callbacks;
  handles_host->mqs_put_image_info_fp(image, info);
  return MPIDBG_SUCCESS;
}

void mpidbg_finalize_per_image(mqs_image* image, mqs_image_info* image_info) {
  (void)image;
  handles_host->mqs_free_fp(image_info);
}

void handles_name(struct name_map* map, char* name, mqs_taddr_t handle) {
  if (map->count < HANDLES_NAMES)
    map->names[map->count++] = (struct mpidbg_name_map_t){name, handle};
}

static void close_reader(const struct reader* reader, void* state) {
  if (state != NULL && reader->close != NULL)
    reader->close(state);
  else if (state != NULL)
    handles_host->mqs_free_fp(state);
}

/* Opens all readers that know the process; the first one's names and types count. */
static int open_readers(mqs_process_info* process, struct mpidbg_handle_info_t* handle_types) {
  int failed = MPIDBG_ERR_NOT_SUPPORTED;
  unsigned comm_capabilities = 0;
  unsigned errhandler_capabilities = 0;
  /* "This handle was not freed" is only known if all readers can tell. */
  unsigned comm_freed = MPIDBG_COMM_CAP_FREED_HANDLE;
  unsigned errhandler_freed = MPIDBG_ERRH_CAP_FREED_HANDLE;
  comm_names = errhandler_names = (struct name_map){0};
  for (int i = 0; i < READERS; ++i) {
    const struct reader* const reader = readers[i];
    void* state = NULL;
    if (handles_symbol(process, reader->symbol) == 0)
      continue;
    const int code = reader->open(process, &state);
    if (code != MPIDBG_SUCCESS) {
      close_reader(reader, state);
      failed = code;
      continue;
    }
    if (process->readers == 0 && reader->types != NULL)
      reader->types(process, state, handle_types);
    if (comm_names.count == 0 && reader->names != NULL)
      reader->names(process, state, &comm_names, &errhandler_names);
    comm_capabilities |= reader->comm_capabilities;
    errhandler_capabilities |= reader->errhandler_capabilities;
    comm_freed &= reader->comm_capabilities;
    errhandler_freed &= reader->errhandler_capabilities;
    process->open[process->readers].reader = reader;
    process->open[process->readers++].state = state;
  }
  comm_capabilities &= ~(unsigned)MPIDBG_COMM_CAP_FREED_HANDLE | comm_freed;
  errhandler_capabilities &= ~(unsigned)MPIDBG_ERRH_CAP_FREED_HANDLE | errhandler_freed;
  mpidbg_comm_capabilities = (enum mpidbg_comm_capabilities_t)comm_capabilities;
  mpidbg_errhandler_capabilities = (enum mpidbg_errhandler_capabilities_t)errhandler_capabilities;
  mpidbg_comm_name_map = comm_names.count > 0 ? comm_names.names : NULL;
  mpidbg_errhandler_name_map = errhandler_names.count > 0 ? errhandler_names.names : NULL;
  return process->readers > 0 ? MPIDBG_SUCCESS : failed;
}

int mpidbg_init_per_process(mqs_process* process, const mqs_process_callbacks* callbacks,
                            struct mpidbg_handle_info_t* handle_types) {
  *handle_types = (struct mpidbg_handle_info_t){0};
  mqs_image* const image = callbacks->mqs_get_image_fp(process);
  const mqs_image_info* const image_info = handles_host->mqs_get_image_info_fp(image);
  if (image_info == NULL)
    return MPIDBG_ERR_NOT_SUPPORTED;
  mqs_process_info* const info = handles_allocate(sizeof *info);
  if (info == NULL)
    return MPIDBG_ERR_NO_MEM;
  image_info->callbacks->mqs_get_type_sizes_fp(process, &info->sizes);
  info->target = (struct target){process, callbacks, info->sizes.pointer_size};
  info->image = image;
  info->image_callbacks = image_info->callbacks;
  info->world_rank = callbacks->mqs_get_global_rank_fp(process);
  const int code = open_readers(info, handle_types);
  if (code == MPIDBG_SUCCESS)
    handles_host->mqs_put_process_info_fp(process, info);
  else
    handles_host->mqs_free_fp(info);
  return code;
}

void mpidbg_finalize_per_process(mqs_process* process, mqs_process_info* process_info) {
  (void)process;
  for (int i = 0; i < process_info->readers; ++i)
    close_reader(process_info->open[i].reader, process_info->open[i].state);
  handles_host->mqs_free_fp(process_info);
}
