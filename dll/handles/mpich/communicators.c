/* An MPI_Comm is an integer: place and index of an MPIR_Comm. */

#include "dll/handles/mpich/layout.h"

enum { INTERCOMMUNICATOR = 1, MOST_MEMBERS = 1 << 22, INTERNAL_WORLD = 0x44000002 };

/* MPIDI_VCRT: connections by rank. It begins as MPIR_Group does, up to its size; then comes the
 * table (src/mpid/ch3/include/mpidimpl.h). NULL: it is not of `count` members, or not read. */
static mqs_taddr_t* connections(const mqs_process_info* process, const struct mpich* mpich,
                                mqs_taddr_t table, int count) {
  const unsigned word = (unsigned)process->target.address_size;
  int size = 0;
  if (count < 0 || count > MOST_MEMBERS || !mpich_int(process, mpich, table, MEMBERS_SIZE, &size) ||
      size != count)
    return NULL;
  const mqs_taddr_t end = mpich_at(mpich, table, MEMBERS_SIZE) + sizeof(int32_t);
  const mqs_taddr_t first = (end + word - 1) / word * word;
  unsigned char* const words = handles_array((size_t)count, word);
  mqs_taddr_t* members = NULL;
  if (words != NULL && (count == 0 || handles_fetch(process, first, (size_t)count * word, words)))
    members = handles_array((size_t)count, sizeof *members);
  for (int i = 0; members != NULL && i < count; ++i)
    members[i] = handles_address_in(process, words + (size_t)i * word);
  if (words != NULL)
    handles_host->mqs_free_fp(words);
  return members;
}

static mqs_taddr_t device(const struct mpich* mpich, mqs_taddr_t comm) {
  return mpich_at(mpich, comm, COMM_DEVICE);
}

struct world {
  mqs_taddr_t* members;
  int size;
};

static struct world read_world(const mqs_process_info* process, const struct mpich* mpich) {
  struct world world = {NULL, 0};
  const mqs_taddr_t comm = mpich_object(process, mpich, &mpich->comms, MPICH_COMM_WORLD);
  mqs_taddr_t table = 0;
  if (mpich_int(process, mpich, comm, COMM_LOCAL_SIZE, &world.size) &&
      mpich_word(process, mpich, device(mpich, comm), DEVICE_MEMBERS, &table))
    world.members = connections(process, mpich, table, world.size);
  return world;
}

/* The world rank of a connection. Most groups have the order of the world: the search begins behind
 * the rank that was found last. */
static int world_rank(const struct world* world, mqs_taddr_t connection, int expected) {
  for (int i = 0; i < world->size; ++i) {
    const int rank = (expected + i) % world->size;
    if (world->members[rank] == connection)
      return rank;
  }
  return -1; /* a process of another MPI_COMM_WORLD */
}

static struct mpidbg_process_t* members(const mqs_process_info* process, const struct mpich* mpich,
                                        mqs_taddr_t table, int count, const struct world* world) {
  if (world->members == NULL)
    return NULL;
  mqs_taddr_t* const connected = connections(process, mpich, table, count);
  if (connected == NULL)
    return NULL;
  struct mpidbg_process_t* const processes = handles_array((size_t)count, sizeof *processes);
  int expected = 0;
  for (int i = 0; processes != NULL && i < count; ++i) {
    processes[i].mpi_comm_world_rank = world_rank(world, connected[i], expected);
    expected = processes[i].mpi_comm_world_rank + 1;
  }
  handles_host->mqs_free_fp(connected);
  return processes;
}

static void add_groups(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t comm,
                       int inter, struct mpidbg_comm_info_t* info) {
  const enum mpich_field local = inter ? DEVICE_LOCAL_MEMBERS : DEVICE_MEMBERS;
  const struct world world = read_world(process, mpich);
  mqs_taddr_t table = 0;
  info->comm_size = -1;
  if (mpich_int(process, mpich, comm, COMM_LOCAL_SIZE, &info->comm_size) &&
      mpich_word(process, mpich, device(mpich, comm), local, &table))
    info->comm_local_procs = members(process, mpich, table, info->comm_size, &world);
  info->comm_num_local_procs = info->comm_size;
  if (inter && mpich_int(process, mpich, comm, COMM_REMOTE_SIZE, &info->comm_num_remote_procs) &&
      mpich_word(process, mpich, device(mpich, comm), DEVICE_MEMBERS, &table))
    info->comm_remote_procs = members(process, mpich, table, info->comm_num_remote_procs, &world);
  if (world.members != NULL)
    handles_host->mqs_free_fp(world.members);
}

/* A communicator without an error handler of its own has the default one. */
static void add_errhandler(const mqs_process_info* process, const struct mpich* mpich,
                           mqs_taddr_t comm, struct mpidbg_comm_description* more) {
  mqs_taddr_t errhandler = 0;
  if (!mpich_word(process, mpich, comm, COMM_ERRHANDLER, &errhandler))
    return;
  more->errhandler =
      errhandler != 0 ? mpich_handle(process, errhandler) : (mqs_taddr_t)MPICH_ERRORS_ARE_FATAL;
  if (mpich_object(process, mpich, &mpich->errhandlers, more->errhandler) != 0)
    more->known |= MPIDBG_KNOWN_ERRHANDLER;
}

static void read_holders(const mqs_process_info* process, struct mpich* mpich) {
  struct handle_list requests = {0};
  const int code = mpich_list(process, mpich, &mpich->requests, &requests);
  mqs_taddr_t* const holders = handles_array((size_t)requests.count, sizeof *holders);
  int read = code == MPIDBG_SUCCESS && holders != NULL;
  for (int i = 0; read && i < requests.count; ++i) {
    const mqs_taddr_t at = mpich_object(process, mpich, &mpich->requests, requests.handles[i]);
    read = mpich_word(process, mpich, at, REQUEST_COMM, &holders[i]);
  }
  if (requests.handles != NULL)
    handles_host->mqs_free_fp(requests.handles);
  if (!read && holders != NULL)
    handles_host->mqs_free_fp(holders);
  mpich->holders = read ? holders : NULL;
  mpich->holder_count = read ? requests.count : 0;
}

/* The program's handle holds one reference, and each request holds one. With fewer references the
 * program has freed its handle for certain. With enough of them it is not known, since other parts
 * of the MPI may hold one. */
static int is_freed(const mqs_process_info* process, struct mpich* mpich, mqs_taddr_t comm) {
  int holding = 0;
  int references = 0;
  if (mpich->holders == NULL)
    read_holders(process, mpich);
  for (int i = 0; i < mpich->holder_count; ++i)
    holding += mpich->holders[i] == comm;
  return mpich->holders != NULL &&
         mpich_int(process, mpich, comm, OBJECT_REFERENCES, &references) && references <= holding;
}

int mpich_comm(const mqs_process_info* process, void* state, struct comm_answer* answer) {
  struct mpich* const mpich = state;
  const mqs_taddr_t handle = answer->info.comm_c_handle;
  mqs_taddr_t comm = 0;
  int kind = 0;
  answer->more.fortran_handle = (int32_t)(uint32_t)handle;
  if (handle == MPICH_COMM_NULL) {
    answer->more.known = MPIDBG_KNOWN_FORTRAN;
    answer->info.comm_bitflags = MPIDBG_COMM_INFO_COMM_NULL | MPIDBG_COMM_INFO_PREDEFINED;
    return MPIDBG_SUCCESS;
  }
  const int code = mpich_find(process, mpich, &mpich->comms, handle, &comm);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (!mpich_int(process, mpich, comm, COMM_KIND, &kind))
    return MPIDBG_ERR_UNAVAILABLE;
  answer->more.known = MPIDBG_KNOWN_FORTRAN | MPIDBG_KNOWN_CONTEXT;
  answer->more.context = comm; /* by which MPICH's debug DLL tells its queues apart */
  if (handle == MPICH_COMM_WORLD || handle == MPICH_COMM_SELF)
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_PREDEFINED;
  else if (is_freed(process, mpich, comm))
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_FREED_HANDLE;
  if (kind == INTERCOMMUNICATOR)
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_INTERCOMM;
  handles_string(process, mpich_at(mpich, comm, COMM_NAME), answer->info.comm_name,
                 sizeof answer->info.comm_name);
  int rank = -1;
  if (mpich_int(process, mpich, comm, COMM_RANK, &rank) && rank >= 0)
    answer->info.comm_rank = rank;
  add_groups(process, mpich, comm, kind == INTERCOMMUNICATOR, &answer->info);
  add_errhandler(process, mpich, comm, &answer->more);
  mpich_attributes(process, mpich, comm, answer);
  return MPIDBG_SUCCESS;
}

/* Adds the communicators that MPICH has made for itself from the one at `comm`. */
static int add_internals(const mqs_process_info* process, const struct mpich* mpich,
                         mqs_taddr_t comm, struct handle_list* internals) {
  static const enum mpich_field links[] = {COMM_LOCAL_COMM, COMM_NODE_COMM, COMM_NODE_ROOTS};
  for (size_t i = 0; i < sizeof links / sizeof *links; ++i) {
    mqs_taddr_t internal = 0;
    if (!mpich_word(process, mpich, comm, links[i], &internal))
      return MPIDBG_ERR_UNAVAILABLE;
    const int code = internal != 0 ? handles_list_add(internals, mpich_handle(process, internal))
                                   : MPIDBG_SUCCESS;
    if (code != MPIDBG_SUCCESS)
      return code;
  }
  return MPIDBG_SUCCESS;
}

static int is_among(const struct handle_list* list, mqs_taddr_t handle) {
  for (int i = 0; i < list->count; ++i)
    if (list->handles[i] == handle)
      return 1;
  return 0;
}

/* Lists all communicators except the ones that MPICH has made for itself. */
int mpich_comms(const mqs_process_info* process, const struct mpich* mpich,
                struct handle_list* list) {
  struct handle_list all = {0};
  struct handle_list internals = {0};
  int code = mpich_list(process, mpich, &mpich->comms, &all);
  for (int i = 0; i < all.count && code == MPIDBG_SUCCESS; ++i) {
    const mqs_taddr_t comm = mpich_object(process, mpich, &mpich->comms, all.handles[i]);
    code = add_internals(process, mpich, comm, &internals);
  }
  for (int i = 0; i < all.count; ++i) {
    if (all.handles[i] == INTERNAL_WORLD || is_among(&internals, all.handles[i]))
      continue;
    const int added = handles_list_add(list, all.handles[i]);
    code = code == MPIDBG_SUCCESS ? added : code;
  }
  if (all.handles != NULL)
    handles_host->mqs_free_fp(all.handles);
  if (internals.handles != NULL)
    handles_host->mqs_free_fp(internals.handles);
  return code;
}
