// No deadlocks: messages go to and fro for ever. Whoever looks at one rank after the other may find
// all of them waiting.

#include "tests/inferiors/verdict.h"

#include <stdio.h>
#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

/// What travels: `over` ends the game.
struct token {
  int over;
  int rest;
};

static void send_plain(const struct token* token, int peer, MPI_Comm comm) {
  MPI_Send(token, small, MPI_BYTE, peer, usual_tag, comm);
}

static void send_synchronous(const struct token* token, int peer, MPI_Comm comm) {
  MPI_Ssend(token, small, MPI_BYTE, peer, usual_tag, comm);
}

static void send_large(const struct token* token, int peer, MPI_Comm comm) {
  static struct token* data = NULL;
  if (data == NULL)
    data = scene_buffer();
  *data = *token;
  MPI_Send(data, large, MPI_BYTE, peer, usual_tag, comm);
}

static void recv_plain(struct token* token, int peer, MPI_Comm comm) {
  MPI_Recv(token, small, MPI_BYTE, peer, usual_tag, comm, MPI_STATUS_IGNORE);
}

static void recv_large(struct token* token, int peer, MPI_Comm comm) {
  static struct token* data = NULL;
  if (data == NULL)
    data = scene_buffer();
  MPI_Recv(data, large, MPI_BYTE, peer, usual_tag, comm, MPI_STATUS_IGNORE);
  *token = *data;
}

static void recv_any(struct token* token, int peer, MPI_Comm comm) {
  (void)peer;
  MPI_Recv(token, small, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

static void recv_probed(struct token* token, int peer, MPI_Comm comm) {
  MPI_Probe(peer, usual_tag, comm, MPI_STATUS_IGNORE);
  recv_plain(token, peer, comm);
}

static void recv_mprobed(struct token* token, int peer, MPI_Comm comm) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(peer, usual_tag, comm, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(token, small, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void recv_waited(struct token* token, int peer, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(token, small, MPI_BYTE, peer, usual_tag, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void recv_tested(struct token* token, int peer, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(token, small, MPI_BYTE, peer, usual_tag, comm, &request);
  for (int done = 0; !done;)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void recv_persistent(struct token* token, int peer, MPI_Comm comm) {
  static MPI_Request request = MPI_REQUEST_NULL;
  static struct token data;
  if (request == MPI_REQUEST_NULL)
    MPI_Recv_init(&data, small, MPI_BYTE, peer, usual_tag, comm, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  *token = data;
}

/// How the players of ping-pong send and receive.
struct strokes {
  void (*send)(const struct token* token, int peer, MPI_Comm comm);
  void (*recv)(struct token* token, int peer, MPI_Comm comm);
};

static void play(const struct scene* s, struct strokes with, int serves, int peer, MPI_Comm comm) {
  struct token token = {0};
  scene_ready(s);
  while (!token.over) {
    if (serves) {
      token.over = scene_over(s);
      with.send(&token, peer, comm);
    }
    with.recv(&token, peer, comm);
    if (!serves)
      with.send(&token, peer, comm);
  }
}

static void play_pairs(const struct scene* s, struct strokes with) {
  play(s, with, s->rank % 2 == 0, s->rank ^ 1, WORLD);
}

static void pingpong(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_plain});
}

/// Unlike the others it has something on its stack that differs from one round to the next.
static void pingpong_rounds(const struct scene* s) {
  struct token token = {0};
  long rounds = 0;
  scene_ready(s);
  for (; !token.over; ++rounds) {
    token.over = s->rank % 2 == 0 && scene_over(s);
    if (s->rank % 2 == 0)
      send_plain(&token, s->rank ^ 1, WORLD);
    recv_plain(&token, s->rank ^ 1, WORLD);
    if (s->rank % 2 != 0)
      send_plain(&token, s->rank ^ 1, WORLD);
  }
  printf("rank %d: %ld rounds\n", s->rank, rounds);
}

static void pingpong_any(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_any});
}

static void pingpong_large(const struct scene* s) {
  play_pairs(s, (struct strokes){send_large, recv_large});
}

static void pingpong_ssend(const struct scene* s) {
  play_pairs(s, (struct strokes){send_synchronous, recv_plain});
}

static void pingpong_probe(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_probed});
}

static void pingpong_mprobe(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_mprobed});
}

static void pingpong_wait(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_waited});
}

static void pingpong_test(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_tested});
}

static void pingpong_persistent(const struct scene* s) {
  play_pairs(s, (struct strokes){send_plain, recv_persistent});
}

static void pingpong_inter(const struct scene* s) {
  MPI_Comm side = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(WORLD, s->rank % 2, s->rank, &side);
  MPI_Intercomm_create(side, 0, WORLD, 1 - s->rank % 2, 1, &between);
  play(s, (struct strokes){send_plain, recv_plain}, s->rank % 2 == 0, s->rank / 2, between);
}

/// As many tokens as it says go round. Rank 0 ends them, one by one.
static void go_round(const struct scene* s, int tokens) {
  const int left = (s->rank + s->size - 1) % s->size;
  const int right = (s->rank + 1) % s->size;
  struct token token = {0};
  scene_ready(s);
  for (int i = 0; s->rank == 0 && i < tokens; ++i)
    send_plain(&token, right, WORLD);
  for (int ended = 0; ended < tokens; ended += token.over) {
    recv_plain(&token, left, WORLD);
    if (s->rank == 0 && token.over)
      continue;
    if (s->rank == 0)
      token.over = scene_over(s);
    send_plain(&token, right, WORLD);
    if (s->rank == 0)
      token.over = 0;
  }
}

static void token_ring(const struct scene* s) {
  go_round(s, 1);
}

static void three_tokens(const struct scene* s) {
  go_round(s, 3);
}

// Every 5 ms, from 0 to the last; each computes a while before it passes on what it got.
static void pipeline(const struct scene* s) {
  struct token token = {0};
  scene_ready(s);
  while (!token.over) {
    if (s->rank == 0)
      token.over = scene_over(s);
    else
      recv_plain(&token, s->rank - 1, WORLD);
    scene_work_for(5);
    if (s->rank + 1 < s->size)
      send_plain(&token, s->rank + 1, WORLD);
  }
}

// The receiver is always there first.
static void slow_sender(const struct scene* s) {
  struct token token = {0};
  scene_ready(s);
  while (!token.over) {
    if (s->rank == 1) {
      scene_work_for(50);
      token.over = scene_over(s);
      send_synchronous(&token, 0, WORLD);
    } else {
      recv_plain(&token, 1, WORLD);
    }
  }
}

static void answer(const struct scene* s) {
  for (int gone = 0; gone + 1 < s->size;) {
    struct token token = {0};
    MPI_Status status;
    MPI_Recv(&token, small, MPI_BYTE, MPI_ANY_SOURCE, usual_tag, WORLD, &status);
    gone += token.over;
    if (!token.over)
      send_plain(&token, status.MPI_SOURCE, WORLD);
  }
}

static void ask(const struct scene* s) {
  struct token token = {0};
  while (!token.over) {
    scene_work_for(3 * s->rank);
    token.over = scene_over(s);
    send_plain(&token, 0, WORLD);
    if (!token.over)
      recv_plain(&token, 0, WORLD);
  }
}

// Clients that ask, and wait for the answer of the server, which waits for any of them.
static void busy_server(const struct scene* s) {
  scene_ready(s);
  if (s->rank == 0)
    answer(s);
  else
    ask(s);
}

const struct scenario moving_scenarios[] = {
    {.name = "pingpong", .run = pingpong},
    {.name = "pingpong_rounds", .run = pingpong_rounds},
    {.name = "pingpong_any", .run = pingpong_any},
    {.name = "pingpong_large", .run = pingpong_large},
    {.name = "pingpong_ssend", .run = pingpong_ssend},
    {.name = "pingpong_probe", .run = pingpong_probe},
    {.name = "pingpong_mprobe", .run = pingpong_mprobe},
    {.name = "pingpong_wait", .run = pingpong_wait},
    {.name = "pingpong_test", .run = pingpong_test},
    {.name = "pingpong_persistent", .run = pingpong_persistent},
    {.name = "pingpong_inter", .run = pingpong_inter},
    {.name = "token_ring", .run = token_ring},
    {.name = "three_tokens", .run = three_tokens},
    {.name = "pipeline", .run = pipeline},
    {.name = "slow_sender", .run = slow_sender},
    {.name = "busy_server", .run = busy_server},
    {0},
};
