/* An MPI_Comm is the address of an ompi_communicator_t. */

#include "dll/handles/openmpi/objects.h"

/* From Open MPI 5 on a communicator has an index beside its context id, which has 128 bits since,
 * and a pointer to its name in place of the name. */
static int has_index(const struct openmpi* openmpi) {
  return openmpi->offsets[COMM_INDEX] >= 0;
}

/* A communicator is a handle as long as it stands in the table of communicators, by its index or
 * its context id. A communicator that the MPI has freed does not stand there. */
static int check(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t comm,
                 int* slot, int* flags) {
  mqs_taddr_t listed = 0;
  const int code = openmpi_check_listed(process, openmpi, comm, CLASS_COMM, COMMS);
  if (code != MPIDBG_SUCCESS)
    return code;
  const enum openmpi_field place = has_index(openmpi) ? COMM_INDEX : COMM_CONTEXT;
  if (!openmpi_int(process, openmpi, comm, place, slot) ||
      !openmpi_int(process, openmpi, comm, COMM_FLAGS, flags))
    return MPIDBG_ERR_UNAVAILABLE;
  const int found = openmpi_find_slot(process, openmpi, COMMS, *slot, &listed);
  return found == MPIDBG_SUCCESS && listed != comm ? MPIDBG_ERR_NOT_FOUND : found;
}

static void add_name(const mqs_process_info* process, const struct openmpi* openmpi,
                     struct mpidbg_comm_info_t* info) {
  mqs_taddr_t name = openmpi_at(openmpi, info->comm_c_handle, COMM_NAME);
  if (!has_index(openmpi) || (handles_pointer(process, name, &name) && name != 0))
    handles_string(process, name, info->comm_name, sizeof info->comm_name);
}

/* The program's handle holds one reference, and each request holds one. With fewer references the
 * program has freed its handle for certain. With enough of them it is not known, since other parts
 * of the MPI may hold one. */
static int is_freed(const mqs_process_info* process, struct openmpi* openmpi, mqs_taddr_t comm,
                    int flags) {
  int references = 0;
  int holders = 0;
  if ((flags & OPENMPI_FREED) != 0)
    return 1;
  if ((flags & OPENMPI_INTRINSIC) != 0 ||
      !openmpi_int(process, openmpi, comm, OBJECT_REFERENCES, &references) ||
      !openmpi_holders(process, openmpi, comm, &holders))
    return 0;
  const int extra = (flags & OPENMPI_EXTRA_REFERENCE) != 0;
  return references <= holders + extra;
}

static void add_flags(int flags, struct mpidbg_comm_info_t* info) {
  if ((flags & OPENMPI_INTRINSIC) != 0)
    info->comm_bitflags |= MPIDBG_COMM_INFO_PREDEFINED;
  if ((flags & OPENMPI_INTER) != 0)
    info->comm_bitflags |= MPIDBG_COMM_INFO_INTERCOMM;
}

static void add_groups(const mqs_process_info* process, const struct openmpi* openmpi, int inter,
                       struct mpidbg_comm_info_t* info) {
  const mqs_taddr_t comm = info->comm_c_handle;
  mqs_taddr_t group = 0;
  info->comm_size = info->comm_num_local_procs = -1;
  if (openmpi_word(process, openmpi, comm, COMM_LOCAL_GROUP, &group))
    info->comm_local_procs = openmpi_group(process, openmpi, group, &info->comm_num_local_procs);
  info->comm_size = info->comm_num_local_procs;
  int rank = -1;
  if (openmpi_int(process, openmpi, comm, COMM_RANK, &rank) && rank >= 0)
    info->comm_rank = rank;
  if (!inter)
    return;
  info->comm_num_remote_procs = -1;
  if (openmpi_word(process, openmpi, comm, COMM_REMOTE_GROUP, &group))
    info->comm_remote_procs = openmpi_group(process, openmpi, group, &info->comm_num_remote_procs);
}

static void add_description(const mqs_process_info* process, const struct openmpi* openmpi,
                            struct mpidbg_comm_description* more) {
  int fortran = 0;
  if (openmpi_int(process, openmpi, more->handle, COMM_FORTRAN, &fortran) && fortran >= 0) {
    more->fortran_handle = fortran;
    more->known |= MPIDBG_KNOWN_FORTRAN;
  }
  if (openmpi_word(process, openmpi, more->handle, COMM_ERRHANDLER, &more->errhandler))
    more->known |= MPIDBG_KNOWN_ERRHANDLER;
}

int openmpi_comm(const mqs_process_info* process, void* state, struct comm_answer* answer) {
  struct openmpi* const openmpi = state;
  const mqs_taddr_t comm = answer->info.comm_c_handle;
  int slot = 0;
  int flags = 0;
  const int code = check(process, openmpi, comm, &slot, &flags);
  if (code != MPIDBG_SUCCESS)
    return code;
  add_flags(flags, &answer->info);
  add_description(process, openmpi, &answer->more);
  if (!has_index(openmpi)) {
    answer->more.context = (uint32_t)slot;
    answer->more.known |= MPIDBG_KNOWN_CONTEXT;
  }
  if ((flags & OPENMPI_NAME_IS_SET) != 0) /* else Open MPI has made the name up */
    add_name(process, openmpi, &answer->info);
  if (comm == openmpi->symbols[COMM_NULL]) {
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_COMM_NULL;
    return MPIDBG_SUCCESS;
  }
  if (is_freed(process, openmpi, comm, flags))
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_FREED_HANDLE;
  add_groups(process, openmpi, (flags & OPENMPI_INTER) != 0, &answer->info);
  openmpi_topology(process, openmpi, flags, answer);
  openmpi_attributes(process, openmpi, answer);
  return MPIDBG_SUCCESS;
}
