// Two processes. The first leaves messages of the second unreceived, reads performance variables of
// its communicators through MPI_T, enters a call that waits, and makes another one, "late". It says
// what it has read in DIRECTORY/samples.0: lines of VARIABLE COMMUNICATOR VALUE...
//   tool_samples DIRECTORY [VARIABLE...]

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { text_size = 1024, most_values = 64 };

static void fail(const char* what) {
  fprintf(stderr, "tool_samples: %s\n", what);
  exit(1);
}

static void say(FILE* out, MPI_T_pvar_session session, const char* wanted, MPI_Comm comm) {
  int count, found = 0;
  MPI_T_pvar_get_num(&count);
  for (int i = 0; i < count && !found; ++i) {
    char name[text_size], described[text_size], object[MPI_MAX_OBJECT_NAME];
    int name_length = text_size, described_length = text_size, length;
    int level, kind, binding, is_readonly, is_continuous, is_atomic, elements;
    unsigned values[most_values];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_info(i, name, &name_length, &level, &kind, &type, &enumeration, described,
                            &described_length, &binding, &is_readonly, &is_continuous,
                            &is_atomic) != MPI_SUCCESS ||
        strcmp(name, wanted) != 0)
      continue;
    if (type != MPI_UNSIGNED || binding != MPI_T_BIND_MPI_COMM)
      fail("another kind of variable than this program expects");
    if (MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &elements) != MPI_SUCCESS ||
        elements > most_values || MPI_T_pvar_read(session, handle, values) != MPI_SUCCESS)
      fail("the variable cannot be read");
    MPI_Comm_get_name(comm, object, &length);
    fprintf(out, "%s %s", name, object);
    for (int element = 0; element < elements; ++element)
      fprintf(out, " %u", values[element]);
    fprintf(out, "\n");
    MPI_T_pvar_handle_free(session, &handle);
    found = 1;
  }
  if (!found)
    fail("there is no such variable");
}

static void send_all(MPI_Comm own) {
  int number = 0;
  for (int i = 0; i < 3; ++i)
    MPI_Send(&number, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
  MPI_Send(&number, 1, MPI_INT, 0, 0, own);
  MPI_Send(&number, 1, MPI_INT, 0, 1, own); // behind all others
}

int main(int argc, char** argv) {
  int rank, provided, number = 0;
  MPI_Comm own, late;
  MPI_Request pending;
  if (argc < 2)
    fail("usage: tool_samples DIRECTORY [VARIABLE...]");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_name(own, "own");
  if (rank == 1)
    send_all(own);
  if (rank == 0) {
    MPI_T_pvar_session session;
    MPI_Irecv(&number, 1, MPI_INT, 1, 77, own, &pending);
    MPI_Recv(&number, 1, MPI_INT, 1, 1, own, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    FILE* const out = job_open(argv[1], "samples", rank);
    for (int i = 2; i < argc; ++i) {
      say(out, session, argv[i], MPI_COMM_WORLD);
      say(out, session, argv[i], own);
    }
    if (fclose(out) != 0)
      fail("the file cannot be written");
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    const struct timespec pause = {0, 100000000};
    nanosleep(&pause, NULL);
    MPI_Send(&number, 0, MPI_INT, MPI_PROC_NULL, 0, own); // samples
    MPI_Comm_dup(MPI_COMM_SELF, &late);
    MPI_Comm_set_name(late, "late");
  }
  job_ready(argv[1], rank);
  job_wait_for_go(argv[1]);
  if (rank == 1) {
    MPI_Send(&number, 1, MPI_INT, 0, 77, own);
  } else {
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i)
      MPI_Recv(&number, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 1, 0, own, MPI_STATUS_IGNORE);
    MPI_Comm_free(&late);
  }
  MPI_Comm_free(&own);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
