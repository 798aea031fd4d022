#include "dll/handles/recorder/recording.h"

/* Ranks in MPI_COMM_WORLD by local rank. NULL: not known. */
static struct mpidbg_process_t* group_of(const mqs_process_info* process, mqs_taddr_t address,
                                         int size) {
  _Static_assert(sizeof(struct mpidbg_process_t) == sizeof(int), "a rank");
  return address != 0 ? (struct mpidbg_process_t*)(void*)handles_ints(process, address, size)
                      : NULL;
}

static int is_a_size(int size) {
  return size >= 0 && size <= MQR_MAX_GROUP;
}

static int add_groups(const mqs_process_info* process, const unsigned char* bytes,
                      struct mpidbg_comm_info_t* info) {
  info->comm_rank = RECORDED(target_i32, bytes, mqr_communicator, local_rank);
  info->comm_size = RECORDED(target_i32, bytes, mqr_communicator, size);
  const int remote = RECORDED(target_i32, bytes, mqr_communicator, remote_size);
  if (!is_a_size(info->comm_size) || !is_a_size(remote) || info->comm_rank < 0 ||
      info->comm_rank >= info->comm_size)
    return 0;
  info->comm_num_local_procs = info->comm_size;
  info->comm_local_procs = group_of(process, RECORDED(target_u64, bytes, mqr_communicator, group),
                                    info->comm_num_local_procs);
  info->comm_num_remote_procs = remote;
  if (remote > 0)
    info->comm_remote_procs =
        group_of(process, RECORDED(target_u64, bytes, mqr_communicator, remote_group), remote);
  return 1;
}

static void add_bits(const mqs_process_info* process, const unsigned char* bytes,
                     struct comm_answer* answer) {
  const uint32_t known = RECORDED(target_u32, bytes, mqr_communicator, known);
  const uint32_t flags = RECORDED(target_u32, bytes, mqr_communicator, flags);
  const int inter = RECORDED(target_u32, bytes, mqr_node, kind) == MQR_INTER;
  int bits = 0;
  bits |= (known & MQR_PREDEFINED) != 0 ? MPIDBG_COMM_INFO_PREDEFINED : 0;
  bits |= (flags & MQR_FREED) != 0 ? MPIDBG_COMM_INFO_FREED_HANDLE : 0;
  bits |= inter ? MPIDBG_COMM_INFO_INTERCOMM : 0;
  answer->info.comm_bitflags = (enum mpidbg_comm_info_bitmap_t)bits;
}

static void add_description(const mqs_process_info* process, const unsigned char* bytes,
                            struct mpidbg_comm_description* more) {
  const uint32_t known = RECORDED(target_u32, bytes, mqr_communicator, known);
  more->context = RECORDED(target_u64, bytes, mqr_communicator, id);
  more->known |= MPIDBG_KNOWN_CONTEXT;
  if ((known & MQR_KNOWN_FORTRAN) != 0) {
    more->fortran_handle = RECORDED(target_i32, bytes, mqr_communicator, fortran);
    more->known |= MPIDBG_KNOWN_FORTRAN;
  }
  if ((known & MQR_KNOWN_ERRHANDLER) != 0) {
    more->errhandler = RECORDED(target_u64, bytes, mqr_communicator, errhandler);
    more->known |= MPIDBG_KNOWN_ERRHANDLER;
  }
}

static void add_tables(const mqs_process_info* process, const struct recording* recording,
                       const unsigned char* bytes, struct comm_answer* answer) {
  const uint32_t known = RECORDED(target_u32, bytes, mqr_communicator, known);
  const mqs_taddr_t topology = RECORDED(target_u64, bytes, mqr_communicator, topology);
  const mqs_taddr_t attributes = RECORDED(target_u64, bytes, mqr_communicator, attributes);
  const int unseen = (recording_flags(process, recording) & MQR_UNSEEN_ATTRIBUTES) != 0;
  if ((known & MQR_KNOWN_TOPOLOGY) != 0 &&
      (topology == 0 || recorder_topology(process, topology, answer)))
    answer->more.known |= MPIDBG_KNOWN_TOPOLOGY;
  if ((known & MQR_KNOWN_ATTRIBUTES) != 0 && !unseen &&
      recorder_attributes(process, attributes, &answer->info))
    answer->more.known |= MPIDBG_KNOWN_ATTRIBUTES;
}

static void add_requests(const mqs_process_info* process, const struct recording* recording,
                         mqs_taddr_t address, struct mpidbg_comm_info_t* info) {
  const struct recorded_request* const entries = recording->requests.entries;
  struct handle_list list = {0};
  for (int i = 0; i < recording->requests.count; ++i)
    if (entries[i].comm == address && (entries[i].flags & MQR_REQUEST_FREED) == 0 &&
        handles_list_add(&list, entries[i].handle) != MPIDBG_SUCCESS)
      return;
  if (recording_lacking(recording) != MPIDBG_ERR_NOT_FOUND ||
      (recording_flags(process, recording) & MQR_UNSEEN_REQUESTS) != 0)
    return;
  info->comm_num_pending_requests = list.count;
  info->comm_pending_requests =
      list.handles != NULL ? list.handles : handles_array(0, sizeof *list.handles);
}

static int null_comm(const mqs_process_info* process, const struct recording* recording,
                     struct comm_answer* answer) {
  answer->more.fortran_handle =
      recording_null(process, recording, offsetof(struct mqr_handles, comm_null_fortran));
  answer->more.known |= MPIDBG_KNOWN_FORTRAN;
  answer->info.comm_bitflags =
      (enum mpidbg_comm_info_bitmap_t)(MPIDBG_COMM_INFO_COMM_NULL | MPIDBG_COMM_INFO_PREDEFINED);
  return MPIDBG_SUCCESS;
}

int recorder_comm(const mqs_process_info* process, void* state, struct comm_answer* answer) {
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  if (code != MPIDBG_SUCCESS)
    return code;
  const mqs_taddr_t handle = answer->info.comm_c_handle;
  if (handle == recording_constant(process, recording, offsetof(struct mqr_handles, comm_null)))
    return null_comm(process, recording, answer);
  const struct recorded_comm* comm = NULL;
  const int found = recording_comm(recording, handle, &comm);
  if (found != MPIDBG_SUCCESS)
    return found;
  unsigned char bytes[sizeof(struct mqr_communicator)] = {0};
  if (!handles_fetch(process, comm->address, recording->communicator_size, bytes) ||
      !add_groups(process, bytes, &answer->info))
    return MPIDBG_ERR_UNAVAILABLE;
  handles_string(process, RECORDED(target_u64, bytes, mqr_communicator, name),
                 answer->info.comm_name, sizeof answer->info.comm_name);
  add_bits(process, bytes, answer);
  add_description(process, bytes, &answer->more);
  add_tables(process, recording, bytes, answer);
  add_requests(process, recording, comm->address, &answer->info);
  return MPIDBG_SUCCESS;
}
