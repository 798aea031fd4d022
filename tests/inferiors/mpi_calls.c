// Goes through calls of MPI, one after the other, with some ranks inside and the others not.
//   mpi_calls DIRECTORY single|multiple CALL:COMMUNICATOR:BYTES:RANK,RANK... ...
// Of each step N (0, 1, ...), in DIRECTORY/step.N:
//   oracle.RANK, waited.RANK   what the rank waits for, as far as the program knows
//   call.RANK                  which calls it makes, and where (call_log.h)
//   ready.RANK                 the rank is about to call, or stays outside and makes no MPI call
//   returned.RANK              a rank that was inside came out again
//   go                         made by the test: the ranks that were outside do their part
// COMMUNICATOR: world, dup, reversed (a split), between (an intercommunicator of the even and the
// odd ranks), ring (a periodic cartesian one).

#include "tests/inferiors/mpi_calls.h"

#include "tests/inferiors/call_log.h"
#include "tests/inferiors/job_files.h"
#include "tests/inferiors/oracle_log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { most_ranks = 16, comm_count = 5 };

static const char* const comm_names[comm_count] = {"world", "dup", "reversed", "between", "ring"};
static MPI_Comm comms[comm_count];
static MPI_Comm side = MPI_COMM_NULL;
static MPI_Comm steps = MPI_COMM_NULL; // for nothing but to begin each step together
static int rank;
static int size;
static int threads;

int is_intercommunicator(MPI_Comm comm) {
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  return inter;
}

int local_rank_of(MPI_Comm comm, int world_rank) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int local = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (is_intercommunicator(comm))
    MPI_Comm_remote_group(comm, &group);
  else
    MPI_Comm_group(comm, &group);
  MPI_Group_translate_ranks(world, 1, &world_rank, group, &local);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return local;
}

static void make_communicators(void) {
  const int periodic = 1;
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &comms[3]);
  MPI_Comm_set_name(side, rank % 2 ? "odd" : "even");
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comms[4]);
  for (int i = 1; i < comm_count; ++i)
    MPI_Comm_set_name(comms[i], comm_names[i]);
  MPI_Comm_dup(MPI_COMM_WORLD, &steps);
  MPI_Comm_set_name(steps, "steps");
}

MPI_Comm side_communicator(void) {
  return side;
}

void log_communicators(void) {
  oracle_communicator(MPI_COMM_SELF);
  oracle_communicator(steps);
  oracle_communicator(side);
  for (int i = 0; i < comm_count; ++i)
    oracle_communicator(comms[i]);
  oracle_internal_communicators(1); // Open MPI's copy of the local side of "between"
}

static void usage(const char* wrong) {
  fprintf(stderr,
          "usage: mpi_calls DIRECTORY single|multiple CALL:COMMUNICATOR:BYTES:RANKS... "
          "(not %s)\n",
          wrong);
  exit(2);
}

static MPI_Comm comm_named(const char* name) {
  for (int i = 0; i < comm_count; ++i)
    if (strcmp(comm_names[i], name) == 0)
      return comms[i];
  usage(name);
  return MPI_COMM_NULL;
}

static void sort_ranks(struct mpi_call* call, int* insiders, int* outsiders, char* list) {
  int inside[most_ranks] = {0};
  for (char* each = strtok(list, ","); each; each = strtok(NULL, ","))
    inside[atoi(each) % most_ranks] = 1;
  for (int i = 0; i < size; ++i) {
    if (inside[i])
      insiders[call->insider_count++] = i;
    else
      outsiders[call->outsider_count++] = i;
  }
  call->inside = inside[rank];
  call->insiders = insiders;
  call->outsiders = outsiders;
}

static void say_ready(const struct mpi_call* call) {
  job_ready(call->directory, rank);
}

static void await_outsiders(const struct mpi_call* call) {
  for (int i = 0; i < call->outsider_count; ++i)
    job_await_ready(call->directory, call->outsiders[i]);
}

// Whoever stays outside has left the barrier, and makes no MPI call.
static void run(const struct mpi_call* call) {
  void (*const one)(const struct mpi_call* call) = is_collective_call(call->name) ? collective_call
                                                   : is_other_call(call->name)    ? other_call
                                                                                  : NULL;
  if (one == NULL)
    message_prepare(call);
  else if (one == other_call)
    other_prepare(call);
  MPI_Barrier(steps);
  if (call->inside)
    await_outsiders(call);
  if (one == NULL) {
    message_call(call, say_ready);
  } else {
    say_ready(call);
    if (call->inside)
      one(call);
  }
  if (call->inside)
    fclose(job_open(call->directory, "returned", rank));
  job_wait_for_go(call->directory);
  if (one == NULL)
    message_release(call);
  else if (!call->inside)
    one(call);
  if (one == other_call)
    other_finish();
}

static void run_step(const char* directory, int step, const char* given) {
  char path[PATH_MAX];
  char text[PATH_MAX];
  char name[64];
  char comm[64];
  int insiders[most_ranks];
  int outsiders[most_ranks];
  struct mpi_call call = {.name = name, .threads = threads, .directory = path};
  snprintf(path, sizeof path, "%s/step.%d", directory, step);
  if (mkdir(path, 0700) != 0 && errno != EEXIST)
    perror(path);
  if (sscanf(given, "%63[^:]:%63[^:]:%ld:%4000s", name, comm, &call.bytes, text) != 4)
    usage(given);
  call.comm = comm_named(comm);
  sort_ranks(&call, insiders, outsiders, text);
  call_log_in(path, rank);
  run(&call);
}

int main(int argc, char** argv) {
  if (argc < 3)
    usage("nothing");
  threads = strcmp(argv[2], "multiple") == 0;
  int provided = 0;
  MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_communicators();
  job_ready(argv[1], rank);
  for (int step = 0; step + 3 < argc; ++step)
    run_step(argv[1], step, argv[step + 3]);
  job_wait_for_go(argv[1]);
  MPI_Comm_free(&steps);
  MPI_Comm_free(&side);
  for (int i = 1; i < comm_count; ++i)
    MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
