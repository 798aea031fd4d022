#include "dll/handles/recorder/recording.h"

/* The members' ranks in MPI_COMM_WORLD, by local rank. NULL: not known. */
static struct mpidbg_process_t* group_of(const mqs_process_info* process, mqs_taddr_t address,
                                         int size) {
  _Static_assert(sizeof(struct mpidbg_process_t) == sizeof(int), "a rank");
  return address != 0 ? (struct mpidbg_process_t*)(void*)handles_ints(process, address, size)
                      : NULL;
}

static void add_groups(const mqs_process_info* process, const struct communicator* comm,
                       struct mpidbg_comm_info_t* info) {
  info->comm_rank = comm->local_rank;
  info->comm_size = info->comm_num_local_procs = comm->size;
  info->comm_local_procs = group_of(process, comm->group, comm->size);
  info->comm_num_remote_procs = comm->remote_size;
  if (comm->remote_size > 0)
    info->comm_remote_procs = group_of(process, comm->remote_group, comm->remote_size);
}

static void add_bits(const struct communicator* comm, struct comm_answer* answer) {
  int bits = 0;
  bits |= (comm->known & MQR_PREDEFINED) != 0 ? MPIDBG_COMM_INFO_PREDEFINED : 0;
  bits |= (comm->flags & MQR_FREED) != 0 ? MPIDBG_COMM_INFO_FREED_HANDLE : 0;
  bits |= comm->inter ? MPIDBG_COMM_INFO_INTERCOMM : 0;
  answer->info.comm_bitflags = (enum mpidbg_comm_info_bitmap_t)bits;
}

static void add_description(const struct communicator* comm, struct mpidbg_comm_description* more) {
  more->context = comm->id;
  more->known |= MPIDBG_KNOWN_CONTEXT;
  if ((comm->known & MQR_KNOWN_FORTRAN) != 0) {
    more->fortran_handle = comm->fortran;
    more->known |= MPIDBG_KNOWN_FORTRAN;
  }
  if ((comm->known & MQR_KNOWN_ERRHANDLER) != 0) {
    more->errhandler = comm->errhandler;
    more->known |= MPIDBG_KNOWN_ERRHANDLER;
  }
}

static void add_tables(const mqs_process_info* process, const struct recording* recording,
                       const struct communicator* comm, struct comm_answer* answer) {
  const int unseen = (recording_flags(process, recording) & MQR_UNSEEN_ATTRIBUTES) != 0;
  if ((comm->known & MQR_KNOWN_TOPOLOGY) != 0 &&
      (comm->topology == 0 || recorder_topology(process, comm->topology, answer)))
    answer->more.known |= MPIDBG_KNOWN_TOPOLOGY;
  if ((comm->known & MQR_KNOWN_ATTRIBUTES) != 0 && !unseen &&
      recorder_attributes(process, comm->attributes, &answer->info))
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
  const struct recorded_comm* known = NULL;
  const int found = recording_comm(recording, handle, &known);
  if (found != MPIDBG_SUCCESS)
    return found;
  unsigned char bytes[sizeof(struct mqr_communicator)] = {0};
  struct communicator comm;
  if (!handles_fetch(process, known->address, recording->root.communicator_size, bytes) ||
      communicator_decode(&process->target, bytes, &comm) != mqs_ok || comm.remote_size < 0 ||
      comm.remote_size > MQR_MAX_GROUP)
    return MPIDBG_ERR_UNAVAILABLE;
  add_groups(process, &comm, &answer->info);
  handles_string(process, comm.name, answer->info.comm_name, sizeof answer->info.comm_name);
  add_bits(&comm, answer);
  add_description(&comm, &answer->more);
  add_tables(process, recording, &comm, answer);
  add_requests(process, recording, known->address, &answer->info);
  return MPIDBG_SUCCESS;
}
