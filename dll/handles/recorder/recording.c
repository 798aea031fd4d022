#include "dll/handles/recorder/recording.h"

#include "dll/queues/errors.h"

#include <stdlib.h>
#include <string.h>

enum { node_bytes = 256 }; /* no structure of a list has more */

/* Adds an entry. NULL: there is no memory, or there are too many. */
static void* add(struct found* found, size_t size) {
  if (found->count == HANDLES_LISTED)
    return NULL;
  if (found->count == found->room) {
    const int room = found->room > 0 ? 2 * found->room : 64;
    void* const more = handles_array((size_t)room, size);
    if (more == NULL)
      return NULL;
    if (found->entries != NULL) {
      memcpy(more, found->entries, (size_t)found->count * size);
      handles_host->mqs_free_fp(found->entries);
    }
    found->entries = more;
    found->room = room;
  }
  return (char*)found->entries + (size_t)found->count++ * size;
}

static void forget(struct found* found) {
  if (found->entries != NULL)
    handles_host->mqs_free_fp(found->entries);
  *found = (struct found){0};
}

/* Takes a node of a list; `of` is the communicator that the list belongs to. */
typedef void take_function(const mqs_process_info* process, struct recording* recording,
                           mqs_taddr_t of, mqs_taddr_t address, const unsigned char* bytes);
struct walk {
  const char* what;
  uint32_t magic;
  size_t size; /* bytes that both sides know of a node; the rest is 0 */
  mqs_taddr_t of;
  take_function* take;
};

static void walk(const mqs_process_info* process, struct recording* recording, struct list list,
                 struct walk walk) {
  struct cursor cursor = cursor_at(list, walk.what, walk.magic, recording->root.updating);
  unsigned char bytes[node_bytes] = {0};
  mqs_taddr_t address = 0;
  int code = mqs_ok;
  while ((code = cursor_advance(&cursor, &process->target, bytes, walk.size, &address)) == mqs_ok)
    walk.take(process, recording, walk.of, address, bytes);
  recording->whole &= code == mqs_end_of_list;
}

static void add_request(struct recording* recording, struct recorded_request request) {
  if (request.handle == 0)
    return;
  struct recorded_request* const entry = add(&recording->requests, sizeof *entry);
  if (entry != NULL)
    *entry = request;
  else
    recording->whole = 0;
}

static void take_operation(const mqs_process_info* process, struct recording* recording,
                           mqs_taddr_t of, mqs_taddr_t address, const unsigned char* bytes) {
  const uint32_t flags = RECORDED(target_u32, bytes, mqr_operation, flags);
  if ((flags & MQR_TAKEN) != 0 && (flags & MQR_IS_RECEIVING) == 0)
    return; /* it is a message's handle */
  add_request(recording,
              (struct recorded_request){
                  RECORDED(target_u64, bytes, mqr_operation, request), address, of,
                  RECORDED(target_i32, bytes, mqr_operation, fortran), flags, HOLDER_OPERATION});
}

static void take_collective(const mqs_process_info* process, struct recording* recording,
                            mqs_taddr_t of, mqs_taddr_t address, const unsigned char* bytes) {
  add_request(recording,
              (struct recorded_request){
                  RECORDED(target_u64, bytes, mqr_collective, request), address, of,
                  RECORDED(target_i32, bytes, mqr_collective, fortran),
                  RECORDED(target_u32, bytes, mqr_collective, flags), HOLDER_COLLECTIVE});
}

static void take_unqueued(const mqs_process_info* process, struct recording* recording,
                          mqs_taddr_t of, mqs_taddr_t address, const unsigned char* bytes) {
  (void)of;
  add_request(recording, (struct recorded_request){
                             RECORDED(target_u64, bytes, mqr_unqueued, request), address,
                             RECORDED(target_u64, bytes, mqr_unqueued, communicator),
                             RECORDED(target_i32, bytes, mqr_unqueued, fortran),
                             RECORDED(target_u32, bytes, mqr_unqueued, flags), HOLDER_UNQUEUED});
}

static void take_errhandler(const mqs_process_info* process, struct recording* recording,
                            mqs_taddr_t of, mqs_taddr_t address, const unsigned char* bytes) {
  (void)of;
  (void)address;
  struct recorded_errhandler* const entry = add(&recording->errhandlers, sizeof *entry);
  if (entry == NULL) {
    recording->whole = 0;
    return;
  }
  entry->handle = RECORDED(target_u64, bytes, mqr_errhandler, handle);
  memcpy(entry->bytes, bytes, sizeof entry->bytes);
}

static void take_requests_of(const mqs_process_info* process, struct recording* recording,
                             mqs_taddr_t address, const struct communicator* comm) {
  for (size_t queue = 0; queue < MQR_QUEUES; ++queue)
    walk(process, recording, comm->queues[queue],
         (struct walk){"operation", MQR_MAGIC_OPERATION, recording->root.operation_size, address,
                       take_operation});
  walk(process, recording, comm->under_way,
       (struct walk){"collective", MQR_MAGIC_COLLECTIVE, recording->collective_size, address,
                     take_collective});
}

static void take_comm(const mqs_process_info* process, struct recording* recording, mqs_taddr_t of,
                      mqs_taddr_t address, const unsigned char* bytes) {
  (void)of;
  struct communicator comm;
  communicator_decode(&process->target, bytes, &comm); /* checked when it is asked for */
  if ((comm.flags & MQR_INTERNAL) != 0)
    return; /* it is no handle */
  struct recorded_comm* const entry = add(&recording->comms, sizeof *entry);
  if (entry != NULL)
    *entry = (struct recorded_comm){comm.handle,  address,    comm.errhandler,
                                    comm.fortran, comm.known, (comm.flags & MQR_FREED) != 0};
  recording->whole &= entry != NULL && (comm.known & MQR_KNOWN_HANDLE) != 0;
  take_requests_of(process, recording, address, &comm);
}

static int fetch_handles(const mqs_process_info* process, struct recording* recording,
                         mqs_taddr_t address) {
  const struct target* const target = &process->target;
  unsigned char* const bytes = recording->handles;
  memset(bytes, 0, sizeof recording->handles);
  const size_t first = offsetof(struct mqr_handles, errhandler_size);
  if (!handles_fetch(process, address, first, bytes) ||
      RECORDED(target_u32, bytes, mqr_handles, magic) != MQR_MAGIC_HANDLES)
    return 0;
  const size_t size =
      common_size(target, MEMBER(bytes, mqr_handles, size), sizeof(struct mqr_handles));
  if (size < sizeof(struct mqr_handles) || !handles_fetch(process, address, size, bytes))
    return 0;
  recording->errhandler_size = common_size(target, MEMBER(bytes, mqr_handles, errhandler_size),
                                           sizeof(struct mqr_errhandler));
  recording->unqueued_size =
      common_size(target, MEMBER(bytes, mqr_handles, unqueued_size), sizeof(struct mqr_unqueued));
  recording->collective_size = common_size(target, MEMBER(bytes, mqr_handles, collective_size),
                                           sizeof(struct mqr_collective));
  return 1;
}

static int is_freed(const struct recorded_request* request) {
  return (request->flags & MQR_REQUEST_FREED) != 0;
}

static int compare(const void* left, const void* right) {
  const struct recorded_request* const a = left;
  const struct recorded_request* const b = right;
  return a->handle != b->handle ? (a->handle > b->handle) - (a->handle < b->handle)
                                : is_freed(a) - is_freed(b);
}

/* Walks all lists. */
static void look(const mqs_process_info* process, struct recording* recording) {
  const struct target* const target = &process->target;
  forget(&recording->comms);
  forget(&recording->requests);
  forget(&recording->errhandlers);
  recording->whole = !recording->root.updating;
  walk(process, recording, recording->root.communicators,
       (struct walk){"communicator", MQR_MAGIC_COMMUNICATOR, recording->root.communicator_size, 0,
                     take_comm});
  walk(process, recording, list_at(target, MEMBER(recording->handles, mqr_handles, unqueued)),
       (struct walk){"request", MQR_MAGIC_UNQUEUED, recording->unqueued_size, 0, take_unqueued});
  walk(process, recording, list_at(target, MEMBER(recording->handles, mqr_handles, errhandlers)),
       (struct walk){"error handler", MQR_MAGIC_ERRHANDLER, recording->errhandler_size, 0,
                     take_errhandler});
  if (recording->requests.count > 0)
    qsort(recording->requests.entries, (size_t)recording->requests.count,
          sizeof(struct recorded_request), compare);
}

int recording_look(const mqs_process_info* process, struct recording* recording) {
  struct root root;
  if (root_read(&process->target, recording->root_at, &root) != mqs_ok ||
      !fetch_handles(process, recording, root.handles))
    return MPIDBG_ERR_UNAVAILABLE;
  const int known = recording->looked && recording->root.generation == root.generation;
  recording->root = root;
  if (!known)
    look(process, recording);
  recording->looked = 1;
  return MPIDBG_SUCCESS;
}

int recording_open(const mqs_process_info* process, void** state) {
  struct root root;
  const mqs_taddr_t address = handles_symbol(process, MQR_ROOT_SYMBOL);
  const int code = root_read(&process->target, address, &root);
  if (code == mqs_ok && root.handles == 0)
    return MPIDBG_ERR_NOT_SUPPORTED; /* the recorder is an older one */
  if (code != mqs_ok && code != QUEUES_NOT_INITIALIZED && code != QUEUES_FINALIZED)
    return MPIDBG_ERR_UNAVAILABLE;
  struct recording* const made = handles_allocate(sizeof *made);
  if (made == NULL)
    return MPIDBG_ERR_NO_MEM;
  made->root_at = address;
  *state = made;
  return MPIDBG_SUCCESS;
}

int recording_comm(const struct recording* recording, mqs_taddr_t handle,
                   const struct recorded_comm** found) {
  const struct recorded_comm* const entries = recording->comms.entries;
  int alive = 0;
  *found = NULL;
  for (int i = 0; i < recording->comms.count; ++i) {
    if ((entries[i].known & MQR_KNOWN_HANDLE) == 0 || entries[i].handle != handle)
      continue;
    if (*found == NULL || !entries[i].freed)
      *found = &entries[i];
    alive += !entries[i].freed;
  }
  if (*found == NULL)
    return recording_lacking(recording);
  return alive < 2 ? MPIDBG_SUCCESS : MPIDBG_ERR_UNAVAILABLE;
}

mqs_taddr_t recording_comm_handle(const struct recording* recording, mqs_taddr_t address) {
  const struct recorded_comm* const entries = recording->comms.entries;
  for (int i = 0; address != 0 && i < recording->comms.count; ++i)
    if (entries[i].address == address)
      return (entries[i].known & MQR_KNOWN_HANDLE) != 0 ? entries[i].handle : 0;
  return 0;
}

int recording_request(const struct recording* recording, mqs_taddr_t handle,
                      const struct recorded_request** found) {
  const struct recorded_request* const entries = recording->requests.entries;
  int from = 0;
  int end = recording->requests.count;
  while (from < end) { /* looks for the first entry that is not below */
    const int middle = from + (end - from) / 2;
    if (entries[middle].handle < handle)
      from = middle + 1;
    else
      end = middle;
  }
  *found = NULL;
  if (from == recording->requests.count || entries[from].handle != handle)
    return recording_lacking(recording);
  *found = &entries[from];
  const int several = from + 1 < recording->requests.count && entries[from + 1].handle == handle &&
                      !is_freed(&entries[from + 1]);
  return several ? MPIDBG_ERR_UNAVAILABLE : MPIDBG_SUCCESS;
}

const struct recorded_errhandler* recording_errhandler(const struct recording* recording,
                                                       mqs_taddr_t handle) {
  const struct recorded_errhandler* const entries = recording->errhandlers.entries;
  for (int i = 0; i < recording->errhandlers.count; ++i)
    if (entries[i].handle == handle)
      return &entries[i];
  return NULL;
}

int recording_lacking(const struct recording* recording) {
  return recording->whole && (recording->root.flags & (MQR_OFF | MQR_GAPS)) == 0
             ? MPIDBG_ERR_NOT_FOUND
             : MPIDBG_ERR_UNAVAILABLE;
}

mqs_taddr_t recording_constant(const mqs_process_info* process, const struct recording* recording,
                               size_t offset) {
  return target_u64(&process->target, recording->handles + offset);
}

int32_t recording_null(const mqs_process_info* process, const struct recording* recording,
                       size_t offset) {
  return target_i32(&process->target, recording->handles + offset);
}

uint32_t recording_flags(const mqs_process_info* process, const struct recording* recording) {
  return RECORDED(target_u32, recording->handles, mqr_handles, flags);
}
