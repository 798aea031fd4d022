// Sends and receives what a schedule says, and says what became of it.
//   mpi_traffic DIRECTORY SCHEDULE [signal]
// A line of the schedule: `step`, or
//   RANK isend|issend|irecv|late|burst COMMUNICATOR PEER TAG BYTES
// with the communicator's number (world, dup, reversed, between: an intercommunicator of the even
// and the odd ranks), the peer's rank in it and -1 for any peer and any tag of a receive. On one
// communicator no two messages of a sender have the same tag. A burst is so many messages (instead
// of BYTES), which the peer receives at once, before anything else happens. Of each step N, in
// DIRECTORY/step.N:
//   traffic.RANK  what the rank has sent, what it has received, which receives are pending
//   ready.RANK    all has arrived but what was sent `late`; the rank makes no MPI call
//   go            made by the test: clean up, and on to the next step
// With `signal` it raises SIGUSR1 when it is ready, and then goes on by itself.

#include "tests/inferiors/job_files.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_ranks = 16, comm_count = 4, between = 3, largest_message = 1 << 21 };

static const char* const comm_names[comm_count] = {"MPI_COMM_WORLD", "dup", "reversed", "between"};

struct line {
  int step;
  int rank;
  char verb[8];
  int comm;
  int peer;
  int tag;
  int bytes;
  MPI_Request request; ///< of this rank's own
  int known;           ///< received, or seen by a probe
  int received;
};

static struct line* lines;
static int line_count;
static int step_count;
static int unknown_receives; // of this rank and step
static int rank;
static int size;
static MPI_Comm steps = MPI_COMM_NULL;
static MPI_Comm comms[comm_count];
static int local_rank[comm_count];             // this process's
static int peer_rank[comm_count][most_ranks];  // by world rank; -1: no peer
static int world_rank[comm_count][most_ranks]; // by peer
static char* data;

static int is(const struct line* line, const char* verb) {
  return strcmp(line->verb, verb) == 0;
}

static int sends(const struct line* line) {
  return !is(line, "irecv") && !is(line, "burst");
}

static int is_for_me(const struct line* line) {
  return line->peer == local_rank[line->comm] && peer_rank[line->comm][line->rank] >= 0;
}

// A message to this rank, by its sender's line.
static int comes_here(const struct line* line) {
  return sends(line) && is_for_me(line);
}

static void read_schedule(const char* path) {
  FILE* in = fopen(path, "r");
  char text[256];
  int room = 0;
  if (!in) {
    perror(path);
    exit(2);
  }
  while (fgets(text, sizeof text, in)) {
    if (strncmp(text, "step", 4) == 0) {
      ++step_count;
      continue;
    }
    if (line_count == room) {
      room = 2 * room + 64;
      lines = realloc(lines, (size_t)room * sizeof *lines);
      if (!lines)
        exit(7);
    }
    struct line* line = &lines[line_count++];
    memset(line, 0, sizeof *line);
    line->step = step_count - 1;
    line->request = MPI_REQUEST_NULL;
    if (sscanf(text, "%d %7s %d %d %d %d", &line->rank, line->verb, &line->comm, &line->peer,
               &line->tag, &line->bytes) != 6 ||
        line->comm < 0 || line->comm >= comm_count || line->bytes > largest_message) {
      fprintf(stderr, "no line of a schedule: %s", text);
      exit(2);
    }
  }
  fclose(in);
}

static void learn_ranks(int comm) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int inter = 0;
  MPI_Comm_test_inter(comms[comm], &inter);
  MPI_Comm_rank(comms[comm], &local_rank[comm]);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (inter)
    MPI_Comm_remote_group(comms[comm], &group);
  else
    MPI_Comm_group(comms[comm], &group);
  for (int i = 0; i < size; ++i) {
    MPI_Group_translate_ranks(world, 1, &i, group, &peer_rank[comm][i]);
    if (peer_rank[comm][i] == MPI_UNDEFINED)
      peer_rank[comm][i] = -1;
    else
      world_rank[comm][peer_rank[comm][i]] = i;
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static void make_communicators(void) {
  MPI_Comm side = MPI_COMM_NULL;
  const int count = size > 1 ? comm_count : between;
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  if (size > 1) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &comms[between]);
    MPI_Comm_free(&side);
  }
  for (int i = 0; i < count; ++i) {
    if (i > 0)
      MPI_Comm_set_name(comms[i], comm_names[i]);
    learn_ranks(i);
  }
}

static void free_communicators(void) {
  for (int i = 1; i < (size > 1 ? comm_count : between); ++i)
    MPI_Comm_free(&comms[i]);
}

static void start(struct line* line) {
  const MPI_Comm comm = comms[line->comm];
  if (is(line, "issend"))
    MPI_Issend(data, line->bytes, MPI_BYTE, line->peer, line->tag, comm, &line->request);
  else if (sends(line))
    MPI_Isend(data, line->bytes, MPI_BYTE, line->peer, line->tag, comm, &line->request);
  else
    MPI_Irecv(malloc((size_t)line->bytes + 1), line->bytes, MPI_BYTE,
              line->peer < 0 ? MPI_ANY_SOURCE : line->peer, line->tag < 0 ? MPI_ANY_TAG : line->tag,
              comm, &line->request);
}

static void run_bursts(int step) {
  for (int i = 0; i < line_count; ++i) {
    const struct line* line = &lines[i];
    if (line->step != step || !is(line, "burst"))
      continue;
    for (int n = 0; line->rank == rank && n < line->bytes; ++n)
      MPI_Send(data, 0, MPI_BYTE, line->peer, line->tag, comms[line->comm]);
    for (int n = 0; is_for_me(line) && n < line->bytes; ++n)
      MPI_Recv(data, 0, MPI_BYTE, peer_rank[line->comm][line->rank], line->tag, comms[line->comm],
               MPI_STATUS_IGNORE);
  }
}

static void start_mine(int step, int late) {
  for (int i = 0; i < line_count; ++i) {
    if (lines[i].step != step || lines[i].rank != rank || is(&lines[i], "late") != late ||
        is(&lines[i], "burst"))
      continue;
    start(&lines[i]);
    unknown_receives += is(&lines[i], "irecv");
  }
}

static void mark_received(int step, int comm, const MPI_Status* status) {
  for (int i = 0; i < line_count; ++i) {
    struct line* message = &lines[i];
    if (message->step == step && message->comm == comm && comes_here(message) &&
        peer_rank[comm][message->rank] == status->MPI_SOURCE && message->tag == status->MPI_TAG) {
      message->known = 1;
      message->received = 1;
      return;
    }
  }
  fprintf(stderr, "nobody sent tag %d\n", status->MPI_TAG);
  MPI_Abort(MPI_COMM_WORLD, 7);
}

static void look_at_receives(int step) {
  for (int i = 0; unknown_receives > 0 && i < line_count; ++i) {
    struct line* line = &lines[i];
    if (line->step != step || line->rank != rank || !is(line, "irecv") || line->known)
      continue;
    MPI_Status status;
    MPI_Request_get_status(line->request, &line->known, &status);
    if (line->known) {
      mark_received(step, line->comm, &status);
      --unknown_receives;
    }
  }
}

// Until every message to this rank is received or stands in the library.
static void await_messages(int step) {
  for (int i = 0; i < line_count; ++i) {
    struct line* message = &lines[i];
    if (message->step != step || !comes_here(message) || is(message, "late"))
      continue;
    while (!message->known) {
      look_at_receives(step);
      if (!message->known)
        MPI_Iprobe(peer_rank[message->comm][message->rank], message->tag, comms[message->comm],
                   &message->known, MPI_STATUS_IGNORE);
    }
  }
}

// Waits for a file of each rank, calling MPI meanwhile or not.
static void await_all(const char* directory, const char* name, int with_progress) {
  char path[PATH_MAX];
  int unused = 0;
  fclose(job_open(directory, name, rank));
  for (int i = 0; i < size; ++i) {
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, i);
    while (access(path, F_OK) != 0) {
      if (with_progress)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, steps, &unused, MPI_STATUS_IGNORE);
      else
        usleep(1000);
    }
  }
}

// What its messages' receivers have done with them comes back to the sender.
static void hear_of_sends(void) {
  const double until = MPI_Wtime() + 0.005;
  int unused = 0;
  while (MPI_Wtime() < until)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, steps, &unused, MPI_STATUS_IGNORE);
}

static int is_complete(const struct line* line) {
  int complete = 0;
  MPI_Request_get_status(line->request, &complete, MPI_STATUS_IGNORE);
  return complete;
}

static void log_line(FILE* out, const struct line* line, int complete) {
  fprintf(out,
          "{\"line\":\"%s\",\"communicator\":\"%s\",\"local_rank\":%d,\"peer\":%d,\"to\":%d,"
          "\"tag\":%d,\"bytes\":%d,\"complete\":%s}\n",
          line->verb, comm_names[line->comm], local_rank[line->comm], line->peer,
          line->peer < 0 ? -1 : world_rank[line->comm][line->peer], line->tag, line->bytes,
          complete ? "true" : "false");
}

static void log_traffic(const char* directory, int step, const int* complete) {
  FILE* out = job_open(directory, "traffic", rank);
  for (int i = 0; i < line_count; ++i) {
    if (lines[i].step != step)
      continue;
    if (lines[i].rank == rank)
      log_line(out, &lines[i], complete[i]);
    if (comes_here(&lines[i]) && lines[i].received)
      fprintf(out, "{\"line\":\"received\",\"communicator\":\"%s\",\"from\":%d,\"tag\":%d}\n",
              comm_names[lines[i].comm], lines[i].rank, lines[i].tag);
  }
  fclose(out);
}

static void clean_up(int step) {
  for (int i = 0; i < line_count; ++i) {
    struct line* line = &lines[i];
    int cancelled = 0;
    MPI_Status status;
    if (line->step != step || line->rank != rank || !is(line, "irecv"))
      continue;
    if (!line->known)
      MPI_Cancel(&line->request);
    MPI_Wait(&line->request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!line->known && !cancelled)
      mark_received(step, line->comm, &status);
  }
  for (int i = 0; i < line_count; ++i)
    if (lines[i].step == step && comes_here(&lines[i]) && !lines[i].received)
      MPI_Recv(data + largest_message, lines[i].bytes, MPI_BYTE,
               peer_rank[lines[i].comm][lines[i].rank], lines[i].tag, comms[lines[i].comm],
               MPI_STATUS_IGNORE);
  for (int i = 0; i < line_count; ++i)
    if (lines[i].step == step && lines[i].rank == rank)
      MPI_Wait(&lines[i].request, MPI_STATUS_IGNORE);
}

static void run_step(const char* directory, int step, int signals) {
  char path[PATH_MAX];
  int* complete = calloc((size_t)line_count + 1, sizeof *complete);
  snprintf(path, sizeof path, "%s/step.%d", directory, step);
  if (mkdir(path, 0700) != 0 && errno != EEXIST)
    perror(path);
  make_communicators();
  unknown_receives = 0;
  MPI_Barrier(steps);
  run_bursts(step);
  start_mine(step, 0);
  await_messages(step);
  await_all(path, "quiet", 1);
  hear_of_sends();
  for (int i = 0; i < line_count; ++i)
    if (lines[i].step == step && lines[i].rank == rank)
      complete[i] = lines[i].request != MPI_REQUEST_NULL && is_complete(&lines[i]);
  await_all(path, "asleep", 0);
  start_mine(step, 1);
  log_traffic(path, step, complete);
  job_ready(path, rank);
  if (signals)
    raise(SIGUSR1);
  else
    job_wait_for_go(path);
  clean_up(step);
  free_communicators();
  free(complete);
}

static void ignore_signal(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: mpi_traffic DIRECTORY SCHEDULE [signal]\n");
    return 2;
  }
  const int signals = argc > 3;
  signal(SIGUSR1, ignore_signal);
  data = calloc(2, largest_message);
  read_schedule(argv[2]);
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &steps);
  MPI_Comm_set_name(steps, "steps");
  job_ready(argv[1], rank);
  for (int step = 0; step < step_count; ++step)
    run_step(argv[1], step, signals);
  if (!signals)
    job_wait_for_go(argv[1]);
  MPI_Comm_free(&steps);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
