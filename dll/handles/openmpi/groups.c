/* Groups are tables of processes. Each entry is the address of an ompi_proc_t. For a process that
 * this one has never talked to, it is that process's name with the lowest bit set. */

#include "dll/handles/openmpi/objects.h"

/* opal_process_name_t: the job (one MPI_COMM_WORLD each), and the rank in it. */
struct name {
  uint32_t job;
  uint32_t rank;
};

/* The processes with which all members of a group are compared. */
struct world {
  struct name own;
  uint64_t size;
};

static int name_at(const mqs_process_info* process, const struct openmpi* openmpi,
                   mqs_taddr_t member, struct name* name) {
  const mqs_taddr_t at = openmpi_at(openmpi, member, PROCESS_NAME);
  uint64_t job = 0;
  uint64_t rank = 0;
  if (at == 0 || !handles_word(process, at, sizeof name->job, &job) ||
      !handles_word(process, at + sizeof name->job, sizeof name->rank, &rank))
    return 0;
  *name = (struct name){(uint32_t)job, (uint32_t)rank};
  return 1;
}

/* As ompi_proc_sentinel_to_name() has it; in 32 bits there is no room for a job. */
static struct name name_in(const mqs_process_info* process, uint64_t sentinel, uint32_t own_job) {
  if (process->target.address_size == 4)
    return (struct name){own_job, (uint32_t)(sentinel >> 1)};
  const uint32_t local = (uint32_t)(sentinel >> 1 & 0x7fff);
  const uint32_t family = (uint32_t)(sentinel >> 16 & 0xffff);
  return (struct name){family << 16 | local, (uint32_t)(sentinel >> 32)};
}

/* This process's own name. It is believed if its rank is the rank in MPI_COMM_WORLD. */
static int find_world(const mqs_process_info* process, const struct openmpi* openmpi,
                      struct world* world) {
  const mqs_taddr_t comm = openmpi->symbols[COMM_WORLD];
  mqs_taddr_t group = 0;
  mqs_taddr_t table = 0;
  mqs_taddr_t own = 0;
  int rank = 0;
  int size = 0;
  if (!openmpi_int(process, openmpi, comm, COMM_RANK, &rank) ||
      !openmpi_word(process, openmpi, comm, COMM_LOCAL_GROUP, &group) ||
      !openmpi_int(process, openmpi, group, GROUP_SIZE, &size) ||
      !openmpi_word(process, openmpi, group, GROUP_PROCESSES, &table) || rank < 0 || rank >= size)
    return 0;
  const mqs_taddr_t at = table + (mqs_taddr_t)rank * (mqs_taddr_t)process->target.address_size;
  world->size = (uint64_t)size;
  return handles_pointer(process, at, &own) && name_at(process, openmpi, own, &world->own) &&
         world->own.rank == (uint32_t)rank;
}

enum { OF_ANOTHER_WORLD = -1, NOT_KNOWN = -2 };

static int world_rank(const mqs_process_info* process, const struct openmpi* openmpi,
                      const struct world* world, mqs_taddr_t member) {
  struct name name = name_in(process, member, world->own.job);
  if ((member & 1) == 0 && !name_at(process, openmpi, member, &name))
    return NOT_KNOWN;
  if (name.job != world->own.job)
    return OF_ANOTHER_WORLD;
  return name.rank < world->size ? (int)name.rank : NOT_KNOWN;
}

/* Translates the members to world ranks. 1: all of them are known. */
static int translate(const mqs_process_info* process, const struct openmpi* openmpi,
                     mqs_taddr_t group, struct mpidbg_process_t* members, int count) {
  const size_t word = (size_t)process->target.address_size;
  struct world world = {0};
  mqs_taddr_t table = 0;
  if (!find_world(process, openmpi, &world) ||
      !openmpi_word(process, openmpi, group, GROUP_PROCESSES, &table))
    return 0;
  unsigned char* const words = handles_array((size_t)count, word);
  int known = words != NULL && handles_fetch(process, table, (size_t)count * word, words);
  for (int i = 0; i < count && known; ++i) {
    const mqs_taddr_t member = handles_address_in(process, words + (size_t)i * word);
    members[i].mpi_comm_world_rank = world_rank(process, openmpi, &world, member);
    known = members[i].mpi_comm_world_rank != NOT_KNOWN;
  }
  if (words != NULL)
    handles_host->mqs_free_fp(words);
  return known;
}

struct mpidbg_process_t* openmpi_group(const mqs_process_info* process,
                                       const struct openmpi* openmpi, mqs_taddr_t group,
                                       int* size) {
  if (!openmpi_int(process, openmpi, group, GROUP_SIZE, size) || *size < 0 ||
      *size > HANDLES_LISTED) {
    *size = -1;
    return NULL;
  }
  struct mpidbg_process_t* const members = handles_array((size_t)*size, sizeof *members);
  if (members == NULL || *size == 0 || translate(process, openmpi, group, members, *size))
    return members;
  handles_host->mqs_free_fp(members);
  return NULL;
}
