// Posts known operations and says what it posted.
//   oracle_poster DIRECTORY mix | receives=N | matched | inter | blocked_recv | blocked_ssend |
//   blocked_mprobe | blocked_wait | blocked_waitall | blocked_waitany [signal]
// All but matched and inter also as a singleton, which talks to itself; one that is blocked stays
// so for ever. With `signal` it raises SIGUSR1 when it is ready, so that a stub that started it
// stops it there.

#include "tests/inferiors/blocked.h"
#include "tests/inferiors/job_files.h"
#include "tests/inferiors/posting.h"
#include "tests/inferiors/transfers.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  above_eager = 1 << 20,   // vader sends up to 4 KiB eagerly, tcp up to 64 KiB
  eager_not_inline = 2048, // large enough for a request of its own, small enough to be gone at once
  buffered_bytes = 1 << 18,
  taken_bytes = 100,
};

static int signal_when_ready;
static MPI_Message taken = MPI_MESSAGE_NULL; // by MPI_Improbe, until MPI_Mrecv

struct ring {
  int rank;
  int left;
  int right;
};

struct world {
  struct ring world;
  struct ring reversed;
  MPI_Comm halo; // dup
  MPI_Comm back; // split that reverses the ranks
  MPI_Comm wild; // dup, for the wildcards
  MPI_Comm done; // dup, for what is complete
  MPI_Comm pair; // split into pairs of neighbours
  int partner;   // in `pair`; oneself without a neighbour
  MPI_Datatype column;
};

static struct ring ring_of(MPI_Comm comm) {
  struct ring ring;
  int size = 0;
  MPI_Comm_rank(comm, &ring.rank);
  MPI_Comm_size(comm, &size);
  ring.left = (ring.rank + size - 1) % size;
  ring.right = (ring.rank + 1) % size;
  return ring;
}

static struct world make_world(void) {
  struct world w;
  w.world = ring_of(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &w.halo);
  MPI_Comm_set_name(w.halo, "halo");
  MPI_Comm_split(MPI_COMM_WORLD, 0, -w.world.rank, &w.back);
  MPI_Comm_set_name(w.back, "reversed");
  MPI_Comm_dup(MPI_COMM_WORLD, &w.wild);
  MPI_Comm_set_name(w.wild, "wild cards");
  MPI_Comm_dup(MPI_COMM_WORLD, &w.done);
  MPI_Comm_set_name(w.done, "done");
  MPI_Comm_split(MPI_COMM_WORLD, w.world.rank / 2, w.world.rank, &w.pair);
  MPI_Comm_set_name(w.pair, w.world.rank < 2 ? "pair 0" : "pair 1");
  w.partner = ring_of(w.pair).right;
  w.reversed = ring_of(w.back);
  // Three blocks of two ints, four apart: its size is not its extent.
  MPI_Type_vector(3, 2, 4, MPI_INT, &w.column);
  MPI_Type_commit(&w.column);
  return w;
}

static void log_communicators(const struct world* w) {
  const MPI_Comm all[] = {MPI_COMM_WORLD, MPI_COMM_SELF, w->halo, w->back,
                          w->wild,        w->done,       w->pair};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    oracle_communicator(all[i]);
}

static struct posted_operation receive(MPI_Comm comm, int peer, int tag, long length) {
  return posting_operation("receive", comm, peer, tag, length);
}

static struct posted_operation send(MPI_Comm comm, int peer, int tag, long length) {
  return posting_operation("send", comm, peer, tag, length);
}

static struct posted_operation received(MPI_Comm comm, int peer, int tag, long length, int from,
                                        int with_tag, long came) {
  struct posted_operation made = receive(comm, peer, tag, length);
  made.status = status_complete;
  made.has_actual = 1;
  made.actual_peer = from;
  made.actual_tag = with_tag;
  made.actual_length = came;
  return made;
}

static void start_receive(struct posting* posting, struct posted_operation op) {
  MPI_Request* request = posting_add(posting, op);
  MPI_Irecv((void*)op.buffer, (int)op.length, MPI_BYTE, op.peer, op.tag, op.comm, request);
}

// Nobody sends these before `go`.
static void post_receives(struct posting* posting, const struct world* w) {
  start_receive(posting, receive(MPI_COMM_WORLD, w->world.right, 100, 32));
  start_receive(posting, receive(w->halo, MPI_ANY_SOURCE, 101, 256));
  start_receive(posting, receive(w->back, w->reversed.left, 102, 8));
  start_receive(posting, receive(w->wild, w->world.left, MPI_ANY_TAG, 24));
  start_receive(posting, receive(w->wild, MPI_ANY_SOURCE, MPI_ANY_TAG, 40));
  start_receive(posting, receive(w->pair, 0, 32767, above_eager));

  // 24 bytes of data in an extent of 40.
  struct posted_operation column = receive(w->halo, w->world.left, 103, 48);
  column.buffer = posting_buffer(96);
  MPI_Request* request = posting_add(posting, column);
  MPI_Irecv((void*)column.buffer, 2, w->column, column.peer, column.tag, column.comm, request);

  // Free, yet pending: the library still has it.
  struct posted_operation freed = receive(w->halo, w->world.right, 104, 16);
  request = posting_add(posting, freed);
  MPI_Irecv((void*)freed.buffer, 2, MPI_DOUBLE, freed.peer, freed.tag, freed.comm, request);
  MPI_Request_free(request);

  // Completes on the spot, in no queue.
  MPI_Request nobody = MPI_REQUEST_NULL;
  MPI_Irecv(posting_buffer(4), 1, MPI_INT, MPI_PROC_NULL, 105, MPI_COMM_WORLD, &nobody);
  MPI_Wait(&nobody, MPI_STATUS_IGNORE);
}

static void post_sends(struct posting* posting, const struct world* w) {
  struct posted_operation large = send(MPI_COMM_WORLD, w->world.right, 110, above_eager);
  MPI_Isend(large.buffer, above_eager / 4, MPI_INT, large.peer, large.tag, large.comm,
            posting_add(posting, large));
  struct posted_operation synchronous = send(w->halo, w->world.left, 111, 16);
  MPI_Issend(synchronous.buffer, 16, MPI_CHAR, synchronous.peer, synchronous.tag, synchronous.comm,
             posting_add(posting, synchronous));
  struct posted_operation translated = send(w->back, w->reversed.right, 112, 8);
  MPI_Issend(translated.buffer, 1, MPI_DOUBLE, translated.peer, translated.tag, translated.comm,
             posting_add(posting, translated));
}

static void post_persistent(struct posting* posting, const struct world* w) {
  struct posted_operation started = receive(w->halo, w->world.left, 120, 64);
  MPI_Request* request = posting_add(posting, started);
  MPI_Recv_init((void*)started.buffer, 64, MPI_BYTE, started.peer, started.tag, started.comm,
                request);
  MPI_Start(request);

  struct posted_operation sending = send(w->halo, w->world.right, 121, 64);
  request = posting_add(posting, sending);
  MPI_Ssend_init(sending.buffer, 64, MPI_BYTE, sending.peer, sending.tag, sending.comm, request);
  MPI_Start(request);

  struct posted_operation inactive = receive(w->halo, w->world.left, 122, 12);
  inactive.status = status_inactive;
  MPI_Recv_init((void*)inactive.buffer, 3, MPI_INT, inactive.peer, inactive.tag, inactive.comm,
                posting_add(posting, inactive));
  inactive = send(w->halo, w->world.right, 123, 12);
  inactive.status = status_inactive;
  MPI_Send_init(inactive.buffer, 3, MPI_INT, inactive.peer, inactive.tag, inactive.comm,
                posting_add(posting, inactive));
  inactive = send(w->halo, w->world.right, 124, 12);
  inactive.status = status_inactive;
  MPI_Bsend_init(inactive.buffer, 3, MPI_INT, inactive.peer, inactive.tag, inactive.comm,
                 posting_add(posting, inactive));
}

// Persistent, ran once, and was waited for: not started again.
static void post_finished_persistent(struct posting* posting, const struct world* w) {
  struct posted_operation finished = receive(w->done, w->world.left, 137, 32);
  finished.status = status_inactive;
  MPI_Request* request = posting_add(posting, finished);
  MPI_Recv_init((void*)finished.buffer, 32, MPI_BYTE, finished.peer, finished.tag, finished.comm,
                request);
  MPI_Start(request);
  MPI_Send(posting_buffer(32), 32, MPI_BYTE, w->world.right, 137, w->done);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

// The program is done with its buffer. What is too large to leave at once stays in MPI's until the
// receiver takes it, even of a send whose request is gone.
static void post_buffered(struct posting* posting, const struct world* w) {
  const int attached = 3 * buffered_bytes + eager_not_inline + taken_bytes + 5 * MPI_BSEND_OVERHEAD;
  MPI_Buffer_attach(posting_buffer(attached), attached);
  struct posted_operation buffered = send(w->done, w->world.right, 135, buffered_bytes);
  buffered.status = status_complete;
  buffered.system_buffer = 1;
  buffered.delivery = delivery_outstanding;
  MPI_Ibsend(buffered.buffer, buffered_bytes, MPI_BYTE, buffered.peer, buffered.tag, buffered.comm,
             posting_add(posting, buffered));

  struct posted_operation blocking = send(w->done, w->world.right, 138, buffered_bytes);
  blocking.status = status_complete;
  blocking.system_buffer = 1;
  blocking.delivery = delivery_outstanding;
  posting_add(posting, blocking);
  MPI_Bsend(blocking.buffer, buffered_bytes, MPI_BYTE, blocking.peer, blocking.tag, blocking.comm);

  struct posted_operation started = buffered;
  started.tag = 141;
  started.buffer = posting_buffer(buffered_bytes);
  MPI_Request* request = posting_add(posting, started);
  MPI_Bsend_init(started.buffer, buffered_bytes, MPI_BYTE, started.peer, started.tag, started.comm,
                 request);
  MPI_Start(request);

  struct posted_operation gone = send(w->done, w->world.right, 139, eager_not_inline);
  gone.status = status_complete;
  gone.delivery = delivery_done;
  MPI_Ibsend(gone.buffer, eager_not_inline, MPI_BYTE, gone.peer, gone.tag, gone.comm,
             posting_add(posting, gone));
}

// A message that a probe has taken: nobody else can receive it, and it is not received.
static void take_message(struct posting* posting, const struct world* w) {
  struct posted_operation message =
      received(w->done, MPI_ANY_SOURCE, 140, taken_bytes, w->world.left, 140, taken_bytes);
  message.status = status_matched;
  message.kind = "message";
  message.buffer = NULL;
  posting_add(posting, message);
  // Not MPI_Send: MPICH's to oneself waits for the receive.
  MPI_Bsend(posting_buffer(taken_bytes), taken_bytes, MPI_BYTE, w->world.right, 140, w->done);
  int there = 0;
  while (!there)
    MPI_Improbe(MPI_ANY_SOURCE, 140, w->done, &there, &taken, MPI_STATUS_IGNORE);
}

// What the library has finished and the program has not asked for.
static void post_complete(struct posting* posting, const struct world* w) {
  const struct ring ring = w->world;
  start_receive(posting, received(w->done, ring.left, 130, 32, ring.left, 130, 32));
  start_receive(posting, received(w->done, MPI_ANY_SOURCE, 131, 48, ring.left, 131, 48));
  start_receive(posting, received(w->done, ring.left, 132, 512, ring.left, 132, 100));
  start_receive(posting, received(w->pair, w->partner, MPI_ANY_TAG, 20, w->partner, 133, 20));
  start_receive(posting, received(w->done, ring.left, 134, eager_not_inline, ring.left, 134,
                                  eager_not_inline));
  start_receive(posting, received(w->done, ring.left, 139, eager_not_inline, ring.left, 139,
                                  eager_not_inline));
  MPI_Barrier(MPI_COMM_WORLD);
  char* data = posting_buffer(buffered_bytes);
  MPI_Send(data, 32, MPI_BYTE, ring.right, 130, w->done);
  MPI_Send(data, 48, MPI_BYTE, ring.right, 131, w->done);
  MPI_Send(data, 100, MPI_BYTE, ring.right, 132, w->done);
  MPI_Send(data, 20, MPI_BYTE, w->partner, 133, w->pair);

  struct posted_operation eager = send(w->done, ring.right, 134, eager_not_inline);
  eager.status = status_complete;
  MPI_Isend(eager.buffer, eager_not_inline, MPI_BYTE, eager.peer, eager.tag, eager.comm,
            posting_add(posting, eager));

  post_buffered(posting, w);
  take_message(posting, w);
  post_finished_persistent(posting, w);

  struct posted_operation cancelled = receive(w->halo, ring.right, 136, 8);
  cancelled.status = status_complete;
  MPI_Request* request = posting_add(posting, cancelled);
  MPI_Irecv((void*)cancelled.buffer, 8, MPI_BYTE, cancelled.peer, cancelled.tag, cancelled.comm,
            request);
  MPI_Cancel(request);
}

// The other half of everything that is pending.
static void release_partners(const struct world* w) {
  enum { half_count = 18 };
  MPI_Request half[half_count];
  int n = 0;
  char* out = posting_buffer(above_eager);
  char* in[7];
  for (int i = 0; i < 7; ++i)
    in[i] = posting_buffer(above_eager);
  const struct ring ring = w->world;
  MPI_Irecv(in[0], above_eager, MPI_BYTE, ring.left, 110, MPI_COMM_WORLD, &half[n++]);
  MPI_Irecv(in[1], 16, MPI_BYTE, ring.right, 111, w->halo, &half[n++]);
  MPI_Irecv(in[2], 8, MPI_BYTE, w->reversed.left, 112, w->back, &half[n++]);
  MPI_Irecv(in[3], 64, MPI_BYTE, ring.left, 121, w->halo, &half[n++]);
  MPI_Irecv(in[4], buffered_bytes, MPI_BYTE, ring.left, 135, w->done, &half[n++]);
  MPI_Irecv(in[5], buffered_bytes, MPI_BYTE, ring.left, 138, w->done, &half[n++]);
  MPI_Irecv(in[6], buffered_bytes, MPI_BYTE, ring.left, 141, w->done, &half[n++]);
  MPI_Imrecv(posting_buffer(taken_bytes), taken_bytes, MPI_BYTE, &taken, &half[n++]);
  MPI_Isend(out, 32, MPI_BYTE, ring.left, 100, MPI_COMM_WORLD, &half[n++]);
  MPI_Isend(out, 256, MPI_BYTE, ring.right, 101, w->halo, &half[n++]);
  MPI_Isend(out, 8, MPI_BYTE, w->reversed.right, 102, w->back, &half[n++]);
  MPI_Isend(out, 24, MPI_BYTE, ring.right, 1, w->wild, &half[n++]);
  MPI_Isend(out, 24, MPI_BYTE, ring.right, 2, w->wild, &half[n++]);
  MPI_Isend(out, 2, w->column, ring.right, 103, w->halo, &half[n++]);
  MPI_Isend(out, 16, MPI_BYTE, ring.left, 104, w->halo, &half[n++]);
  MPI_Isend(out, 64, MPI_BYTE, ring.right, 120, w->halo, &half[n++]);
  if (w->world.rank % 2 == 0) {
    MPI_Isend(out, above_eager, MPI_BYTE, 0, 32767, w->pair, &half[n++]);
    if (w->partner != 0)
      MPI_Isend(out, above_eager, MPI_BYTE, w->partner, 32767, w->pair, &half[n++]);
  }
  MPI_Waitall(n, half, MPI_STATUSES_IGNORE);
}

static void say_ready(const char* directory, const struct world* w, const struct posting* posting) {
  oracle_begin(directory, w->world.rank);
  log_communicators(w);
  posting_log(posting);
  oracle_end();
  job_ready(directory, w->world.rank);
  if (signal_when_ready)
    raise(SIGUSR1);
}

static void run_mix(const char* directory, const struct world* w, struct posting* posting) {
  post_receives(posting, w);
  post_sends(posting, w);
  post_persistent(posting, w);
  post_complete(posting, w);
  posting_settle(posting);
  say_ready(directory, w, posting);
  job_wait_for_go(directory);
  release_partners(w);
  posting_finish(posting);
}

static void run_receives(const char* directory, const struct world* w, struct posting* posting,
                         int count) {
  for (int i = 0; i < count; ++i)
    start_receive(posting, receive(MPI_COMM_WORLD, w->world.left, i, 8));
  posting_settle(posting);
  say_ready(directory, w, posting);
  job_wait_for_go(directory);
  for (int i = 0; i < count; ++i)
    MPI_Send(posting_buffer(8), 8, MPI_BYTE, w->world.right, i, MPI_COMM_WORLD);
  posting_finish(posting);
}

static void run_blocked(const char* directory, const struct world* w, struct posting* posting,
                        const char* scenario) {
  blocked_prepare(posting, w->done);
  blocked_post(posting, w->halo, scenario);
  say_ready(directory, w, posting);
  blocked_run(posting, w->halo, scenario, directory);
  posting_finish(posting);
}

static void run(const char* directory, const char* scenario, int rank) {
  static struct posting posting;
  if (strcmp(scenario, "inter") == 0) {
    inter_run(&posting, directory, rank);
    posting_finish(&posting);
    return;
  }
  if (strcmp(scenario, "matched") == 0) {
    matched_run(&posting, directory, rank);
    job_wait_for_go(directory);
    posting_finish(&posting);
    return;
  }
  const struct world w = make_world();
  if (strcmp(scenario, "mix") == 0) {
    run_mix(directory, &w, &posting);
  } else if (strncmp(scenario, "receives=", 9) == 0) {
    run_receives(directory, &w, &posting, atoi(scenario + 9));
  } else if (strncmp(scenario, "blocked_", 8) == 0) {
    run_blocked(directory, &w, &posting, scenario);
  } else {
    fprintf(stderr, "no scenario %s\n", scenario);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

static void ignore_signal(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: oracle_poster DIRECTORY SCENARIO [signal]\n");
    return 2;
  }
  signal_when_ready = argc > 3;
  signal(SIGUSR1, ignore_signal);
  const char* directory = argv[1];
  const char* scenario = argv[2];
  // Where several threads may call MPI, a call that waits leaves its own address in the request.
  int provided = 0;
  const int threads = strcmp(scenario, "blocked_mprobe") == 0 || getenv("ORACLE_POSTER_THREADS");
  MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  run(directory, scenario, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  job_finished(directory, rank);
  return 0;
}
