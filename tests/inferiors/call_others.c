// Calls of MPI that wait otherwise than for a message or inside a collective: loops of tests,
// nonblocking collectives that are waited for, windows, files. Each rank makes all of it; the ranks
// outside do when the test says go.

#include "tests/inferiors/call_log.h"
#include "tests/inferiors/mpi_calls.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { most_ranks = 16, probe_tag = 99 };

static MPI_Win window = MPI_WIN_NULL;
#ifdef MPI_MODE_CREATE // an MPI may be made without files
static MPI_File file = MPI_FILE_NULL;
#endif
static long room[most_ranks]; // of the window
static char in[most_ranks];
static char out[most_ranks];

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

static void wait_for(MPI_Request request) {
  SAID(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void ibarrier(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(call->comm, &request);
  wait_for(request);
}

static void ibcast(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(in, 1, MPI_CHAR, 0, call->comm, &request);
  wait_for(request);
}

static void iallreduce(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(in, out, 1, MPI_CHAR, MPI_BOR, call->comm, &request);
  wait_for(request);
}

static void ialltoall(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(in, 1, MPI_CHAR, out, 1, MPI_CHAR, call->comm, &request);
  SAID(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
}

static void igather(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Igather(in, 1, MPI_CHAR, out, 1, MPI_CHAR, 0, call->comm, &request);
  wait_for(request);
}

static void iscan(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iscan(in, out, 1, MPI_CHAR, MPI_BOR, call->comm, &request);
  wait_for(request);
}

static void test_loop(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  MPI_Ibarrier(call->comm, &request);
  call_log("MPI_Test", __FILE__, __LINE__ + 2);
  while (!done)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void testany_loop(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  int index = 0;
  MPI_Ibarrier(call->comm, &request);
  call_log("MPI_Testany", __FILE__, __LINE__ + 2);
  while (!done)
    MPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
}

static void iprobe_loop(const struct mpi_call* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < size_of(call->comm); ++i) {
    MPI_Isend(in, 0, MPI_CHAR, i, probe_tag, call->comm, &request);
    MPI_Request_free(&request);
  }
  for (int i = 0; i < size_of(call->comm); ++i) {
    int there = 0;
    call_log("MPI_Iprobe", __FILE__, __LINE__ + 2);
    while (!there)
      MPI_Iprobe(i, probe_tag, call->comm, &there, MPI_STATUS_IGNORE);
    MPI_Recv(out, 0, MPI_CHAR, i, probe_tag, call->comm, MPI_STATUS_IGNORE);
  }
}

static void win_fence(const struct mpi_call* call) {
  (void)call;
  SAID(MPI_Win_fence(0, window));
}

// The rank outside holds its own lock until it comes here.
static void win_lock(const struct mpi_call* call) {
  const int target = call->outsiders[0];
  const long value = 1;
  if (rank_in(call->comm) == target) {
    MPI_Win_unlock(target, window);
    return;
  }
  SAID(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window));
  SAID(MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, window));
  SAID(MPI_Win_unlock(target, window));
}

#ifdef MPI_MODE_CREATE
static void file_write_all(const struct mpi_call* call) {
  (void)call;
  SAID(MPI_File_write_all(file, in, 1, MPI_CHAR, MPI_STATUS_IGNORE));
}

static void file_path(const struct mpi_call* call, char* path, size_t size) {
  snprintf(path, size, "%s/shared", call->directory);
}

static void file_open(const struct mpi_call* call) {
  char path[PATH_MAX];
  file_path(call, path, sizeof path);
  SAID(MPI_File_open(call->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

static void open_file(const struct mpi_call* call) {
  char path[PATH_MAX];
  file_path(call, path, sizeof path);
  MPI_File_open(call->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

static void close_file(void) {
  if (file != MPI_FILE_NULL)
    MPI_File_close(&file);
}
#else
static void open_file(const struct mpi_call* call) {
  (void)call;
}

static void close_file(void) {}
#endif

static const struct {
  const char* name;
  void (*call)(const struct mpi_call* call);
  int window;
  int file;
} calls[] = {
    {"ibarrier", ibarrier, 0, 0},       {"ibcast", ibcast, 0, 0},
    {"iallreduce", iallreduce, 0, 0},   {"ialltoall", ialltoall, 0, 0},
    {"igather", igather, 0, 0},         {"iscan", iscan, 0, 0},
    {"test_loop", test_loop, 0, 0},     {"testany_loop", testany_loop, 0, 0},
    {"iprobe_loop", iprobe_loop, 0, 0}, {"win_fence", win_fence, 1, 0},
    {"win_lock", win_lock, 1, 0},
#ifdef MPI_MODE_CREATE
    {"file_open", file_open, 0, 0},     {"file_write_all", file_write_all, 0, 1},
#endif
};

static int index_of(const char* name) {
  for (int i = 0; i < (int)(sizeof calls / sizeof calls[0]); ++i)
    if (strcmp(calls[i].name, name) == 0)
      return i;
  return -1;
}

int is_other_call(const char* name) {
  return index_of(name) >= 0;
}

void other_prepare(const struct mpi_call* call) {
  const int at = index_of(call->name);
  if (calls[at].window) {
    MPI_Win_create(room, sizeof room, sizeof room[0], MPI_INFO_NULL, call->comm, &window);
    if (strcmp(call->name, "win_lock") == 0 && rank_in(call->comm) == call->outsiders[0])
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, call->outsiders[0], 0, window);
  }
  if (calls[at].file)
    open_file(call);
}

void other_call(const struct mpi_call* call) {
  calls[index_of(call->name)].call(call);
}

void other_finish(void) {
  if (window != MPI_WIN_NULL)
    MPI_Win_free(&window);
  close_file();
}
