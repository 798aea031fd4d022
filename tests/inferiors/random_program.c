// Runs a program that a test wrote: what each rank calls, one line a rank.
//   random_program DIRECTORY PROGRAM
// tests/analysis/program.h has the words. Each rank says that it is ready before its first
// statement. What never ends ends with the job, or after the job's lifetime.

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  small_bytes = 64,
  large_bytes = 1 << 19,
  most_requests = 32,
  most_words = 40,
  most_text = 8192,
  pause_us = 20000
};

static const char comm_letters[] = "WDEH";
static MPI_Comm comms[sizeof comm_letters - 1];
static MPI_Request requests[most_requests];
static char* buffers[most_requests + 2]; // of each request, and of blocking calls: out and in
static char* words[most_words];          // of the statement
static int word_count;

static void fail(const char* what) {
  fprintf(stderr, "random_program: %s\n", what);
  exit(2);
}

static const char* word(int index) {
  if (index >= word_count)
    fail("a statement is too short");
  return words[index];
}

static int is(const char* verb) {
  return strcmp(words[0], verb) == 0;
}

// Of "*" what the call takes for any.
static int number(int index, int any) {
  return strcmp(word(index), "*") == 0 ? any : (int)strtol(word(index), NULL, 10);
}

static MPI_Comm comm(void) {
  const char* letter = strchr(comm_letters, word(1)[0]);
  if (!letter || !*letter)
    fail("no such communicator");
  return comms[letter - comm_letters];
}

static int bytes(int index) {
  return strcmp(word(index), "large") == 0 ? large_bytes : small_bytes;
}

static int slot(int index) {
  const int which = word(index)[0] == 'r' ? (int)strtol(word(index) + 1, NULL, 10) : -1;
  if (which < 0 || which >= most_requests)
    fail("no such request");
  return which;
}

static void make_comms(int rank, int size) {
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &comms[3]);
}

static int send_or_receive(char* out, char* in) {
  MPI_Status* none = MPI_STATUS_IGNORE;
  if (is("send"))
    MPI_Send(out, bytes(4), MPI_BYTE, number(2, 0), number(3, 0), comm());
  else if (is("ssend"))
    MPI_Ssend(out, bytes(4), MPI_BYTE, number(2, 0), number(3, 0), comm());
  else if (is("recv"))
    MPI_Recv(in, large_bytes, MPI_BYTE, number(2, MPI_ANY_SOURCE), number(3, MPI_ANY_TAG), comm(),
             none);
  else if (is("probe"))
    MPI_Probe(number(2, MPI_ANY_SOURCE), number(3, MPI_ANY_TAG), comm(), none);
  else if (is("sendrecv"))
    MPI_Sendrecv(out, bytes(4), MPI_BYTE, number(2, 0), number(3, 0), in, large_bytes, MPI_BYTE,
                 number(5, MPI_ANY_SOURCE), number(6, MPI_ANY_TAG), comm(), none);
  else
    return 0;
  return 1;
}

static int start_sending(void) {
  if (!is("isend") && !is("issend") && !is("send_init"))
    return 0;
  const int which = slot(5);
  char* buffer = buffers[which];
  const int peer = number(2, 0);
  const int tag = number(3, 0);
  if (is("isend"))
    MPI_Isend(buffer, bytes(4), MPI_BYTE, peer, tag, comm(), &requests[which]);
  else if (is("issend"))
    MPI_Issend(buffer, bytes(4), MPI_BYTE, peer, tag, comm(), &requests[which]);
  else
    MPI_Send_init(buffer, bytes(4), MPI_BYTE, peer, tag, comm(), &requests[which]);
  return 1;
}

static int start_receiving(void) {
  if (!is("irecv") && !is("recv_init"))
    return 0;
  const int which = slot(4);
  const int peer = number(2, MPI_ANY_SOURCE);
  const int tag = number(3, MPI_ANY_TAG);
  if (is("irecv"))
    MPI_Irecv(buffers[which], large_bytes, MPI_BYTE, peer, tag, comm(), &requests[which]);
  else
    MPI_Recv_init(buffers[which], large_bytes, MPI_BYTE, peer, tag, comm(), &requests[which]);
  return 1;
}

static int collective(char* out, char* in) {
  if (is("barrier"))
    MPI_Barrier(comm());
  else if (is("bcast"))
    MPI_Bcast(out, bytes(3), MPI_BYTE, number(2, 0), comm());
  else if (is("reduce"))
    MPI_Reduce(out, in, small_bytes, MPI_BYTE, MPI_BOR, number(2, 0), comm());
  else if (is("allreduce"))
    MPI_Allreduce(out, in, small_bytes, MPI_BYTE, MPI_BOR, comm());
  else if (is("gather"))
    MPI_Gather(out, small_bytes, MPI_BYTE, in, small_bytes, MPI_BYTE, number(2, 0), comm());
  else if (is("ibarrier"))
    MPI_Ibarrier(comm(), &requests[slot(2)]);
  else if (is("ibcast"))
    MPI_Ibcast(buffers[slot(3)], small_bytes, MPI_BYTE, number(2, 0), comm(), &requests[slot(3)]);
  else
    return 0;
  return 1;
}

static void wait_for_several(void) {
  MPI_Request list[most_requests];
  int indices[most_requests];
  const int count = word_count - 1;
  int index = 0;
  if (count > most_requests)
    fail("too many requests");
  for (int i = 0; i < count; ++i)
    list[i] = requests[slot(i + 1)];
  if (is("waitall"))
    MPI_Waitall(count, list, MPI_STATUSES_IGNORE);
  else if (is("waitany"))
    MPI_Waitany(count, list, &index, MPI_STATUS_IGNORE);
  else
    MPI_Waitsome(count, list, &index, indices, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i)
    requests[slot(i + 1)] = list[i];
}

static int completion(void) {
  if (is("wait"))
    MPI_Wait(&requests[slot(1)], MPI_STATUS_IGNORE);
  else if (is("start"))
    MPI_Start(&requests[slot(1)]);
  else if (is("waitall") || is("waitany") || is("waitsome"))
    wait_for_several();
  else
    return 0;
  return 1;
}

static int no_call(const char* directory) {
  if (is("compute"))
    usleep(pause_us);
  else if (is("forever"))
    job_wait_for_go(directory);
  else if (is("exit"))
    _exit(0);
  else
    return 0;
  return 1;
}

static void run(char* statement, const char* directory) {
  char* rest = NULL;
  word_count = 0;
  for (char* next = strtok_r(statement, " \n", &rest); next && word_count < most_words;
       next = strtok_r(NULL, " \n", &rest))
    words[word_count++] = next;
  if (word_count == 0)
    return;
  char* out = buffers[most_requests];
  char* in = buffers[most_requests + 1];
  if (!send_or_receive(out, in) && !start_sending() && !start_receiving() && !collective(out, in) &&
      !completion() && !no_call(directory))
    fail("no such statement");
}

// The line "RANK: statement; statement ..." of this rank.
static char* read_program(const char* path, int rank) {
  static char line[most_text];
  FILE* in = fopen(path, "r");
  char* colon = NULL;
  if (!in)
    fail(path);
  while (!colon && fgets(line, sizeof line, in)) {
    char* end = NULL;
    const long whose = strtol(line, &end, 10);
    colon = end != line && *end == ':' && whose == rank ? end : NULL;
  }
  fclose(in);
  return colon ? colon + 1 : NULL;
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  if (argc != 3)
    fail("usage: random_program DIRECTORY PROGRAM");
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_comms(rank, size);
  for (int i = 0; i < most_requests; ++i)
    requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < most_requests + 2; ++i)
    buffers[i] = calloc(1, large_bytes);
  char* program = read_program(argv[2], rank);
  job_ready(argv[1], rank);
  alarm(job_lifetime_seconds); // it may spin for ever, and who started it may have died
  char* rest = NULL;
  for (char* next = program ? strtok_r(program, ";", &rest) : NULL; next;
       next = strtok_r(NULL, ";", &rest))
    run(next, argv[1]);
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
