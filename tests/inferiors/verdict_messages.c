// Deadlocks of sends and receives that block.

#include "tests/inferiors/verdict.h"

#define WORLD MPI_COMM_WORLD

static int right_of(const struct scene* s) {
  return (s->rank + 1) % s->size;
}

static int left_of(const struct scene* s) {
  return (s->rank + s->size - 1) % s->size;
}

static void recv_ring(const struct scene* s) {
  recv_from(s, right_of(s), usual_tag, WORLD);
}

static void send_ring(const struct scene* s) {
  send_large_to(s, right_of(s), usual_tag, WORLD);
}

static void ssend_ring(const struct scene* s) {
  ssend_to(s, right_of(s), usual_tag, WORLD);
}

// 0 -> 1 -> 2 -> 0 by sends; 3 waits behind.
static void send_ring_and_one(const struct scene* s) {
  if (s->rank == 3)
    recv_from(s, 0, usual_tag, WORLD);
  else
    send_large_to(s, (s->rank + 1) % 3, usual_tag, WORLD);
}

// 0 <-> 1; each further rank waits for the one before it.
static void long_chain(const struct scene* s) {
  recv_from(s, s->rank == 0 ? 1 : s->rank - 1, usual_tag, WORLD);
}

static void two_deadlocks(const struct scene* s) {
  recv_from(s, s->rank ^ 1, usual_tag, WORLD);
}

// 0 <-> 1, while 2 computes and 3 waits for 2.
static void deadlock_beside_work(const struct scene* s) {
  if (s->rank == 2) {
    scene_ready(s);
    scene_work(s);
    send_small(3, usual_tag, WORLD);
  } else {
    recv_from(s, s->rank == 3 ? 2 : 1 - s->rank, usual_tag, WORLD);
  }
}

__attribute__((noinline)) static void one_step(const struct scene* s) {
  recv_from(s, right_of(s), usual_tag, WORLD);
  __asm__ volatile(""); // else the call were a jump, and this function not on the stack
}

__attribute__((noinline)) static void last_step(const struct scene* s) {
  recv_from(s, 0, usual_tag, WORLD);
  __asm__ volatile("");
}

// All are in one call of one function, the last one on another way.
static void one_on_another_way(const struct scene* s) {
  if (s->rank == s->size - 1)
    last_step(s);
  else
    one_step(s);
}

// Each sends to its right side and receives from it: the last one's ring is closed.
static void sendrecv_chain(const struct scene* s) {
  scene_ready(s);
  MPI_Sendrecv(scene_buffer(), large, MPI_BYTE, right_of(s), usual_tag, scene_buffer(), large,
               MPI_BYTE, right_of(s), usual_tag, WORLD, MPI_STATUS_IGNORE);
}

static void sendrecv_tags(const struct scene* s) {
  scene_ready(s);
  MPI_Sendrecv(scene_buffer(), small, MPI_BYTE, right_of(s), 71, scene_buffer(), small, MPI_BYTE,
               left_of(s), 17, WORLD, MPI_STATUS_IGNORE);
}

static void exchange(int bytes, int to, int from) {
  MPI_Sendrecv(scene_buffer(), bytes, MPI_BYTE, to, usual_tag, scene_buffer(), small, MPI_BYTE,
               from, usual_tag, WORLD, MPI_STATUS_IGNORE);
}

// A look at the request leaves words behind.
static void look_at(MPI_Request* request) {
  int done = 0;
  MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

// 0's message of its exchange has gone. It waits for 1, which computes. 2 waits for 0, and receives
// only then what else 0 sends.
static void sendrecv_beside_isend(const struct scene* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (s->rank == 0) {
    MPI_Isend(scene_buffer(), large, MPI_BYTE, 2, 1, WORLD, &request);
    scene_ready(s);
    look_at(&request);
    exchange(small, 1, 1);
    send_small(2, usual_tag, WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (s->rank == 1) {
    scene_ready(s);
    scene_work(s);
    exchange(small, 0, 0);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
    MPI_Recv(scene_buffer(), large, MPI_BYTE, 0, 1, WORLD, MPI_STATUS_IGNORE);
  }
}

// 0's exchange waits for its send alone, to 1, which computes. 2 waits for 0, and sends only then
// what else 0 receives.
static void send_beside_irecv(const struct scene* s, int from) {
  if (s->rank == 0) {
    exchange(small, 1, 1); // its request may be used again
    MPI_Request request = irecv_small(2, 1, WORLD);
    scene_ready(s);
    exchange(large, 1, from);
    send_small(2, usual_tag, WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (s->rank == 1) {
    exchange(small, 0, 0);
    if (from != MPI_PROC_NULL)
      send_small(0, usual_tag, WORLD);
    scene_ready(s);
    scene_work(s);
    MPI_Recv(scene_buffer(), large, MPI_BYTE, 0, usual_tag, WORLD, MPI_STATUS_IGNORE);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
    send_small(0, 1, WORLD);
  }
}

static void sendrecv_beside_irecv(const struct scene* s) {
  send_beside_irecv(s, 1);
}

static void sendrecv_from_nobody(const struct scene* s) {
  send_beside_irecv(s, MPI_PROC_NULL);
}

// 1 will receive what 0 sends; but 2, from which 0 receives, waits for 0.
static void sendrecv_of_both(const struct scene* s) {
  if (s->rank == 0) {
    scene_ready(s);
    exchange(large, 1, 2);
  } else if (s->rank == 1) {
    scene_ready(s);
    scene_work(s);
    MPI_Recv(scene_buffer(), large, MPI_BYTE, 0, usual_tag, WORLD, MPI_STATUS_IGNORE);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

// The same, where 0 has sent, and 1 will receive what else 0 sends.
static void sendrecv_receives(const struct scene* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (s->rank == 0) {
    MPI_Isend(scene_buffer(), large, MPI_BYTE, 1, 1, WORLD, &request);
    scene_ready(s);
    look_at(&request);
    exchange(small, 1, 2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (s->rank == 1) {
    scene_ready(s);
    scene_work(s);
    MPI_Recv(scene_buffer(), large, MPI_BYTE, 0, 1, WORLD, MPI_STATUS_IGNORE);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

static void wildcard_knot(const struct scene* s) {
  recv_from(s, MPI_ANY_SOURCE, usual_tag, WORLD);
}

// 0, 1 and 2 wait for any of themselves; 3 for 2, and 4 for 3.
static void wildcard_behind(const struct scene* s) {
  MPI_Comm three = MPI_COMM_NULL;
  MPI_Comm_split(WORLD, s->rank < 3, s->rank, &three);
  if (s->rank < 3)
    recv_from(s, MPI_ANY_SOURCE, MPI_ANY_TAG, three);
  else
    recv_from(s, s->rank - 1, usual_tag, WORLD);
}

// The master waits for a result of any worker, each worker for work.
static void wildcard_master(const struct scene* s) {
  recv_from(s, s->rank == 0 ? MPI_ANY_SOURCE : 0, usual_tag, WORLD);
}

// Both have sent what the other one does not receive.
static void wrong_tag(const struct scene* s) {
  if (s->rank == 1)
    send_small(0, 71, WORLD);
  recv_from(s, 1 - s->rank, 17, WORLD);
}

static void wrong_tag_rendezvous(const struct scene* s) {
  if (s->rank == 1)
    send_large_to(s, 0, 71, WORLD);
  else
    recv_from(s, 1, 17, WORLD);
}

static void wrong_comm(const struct scene* s) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(WORLD, &copy);
  if (s->rank == 1)
    send_small(0, usual_tag, copy);
  recv_from(s, 1 - s->rank, usual_tag, WORLD);
}

// 2 has sent what 0 wants from 1.
static void wrong_source(const struct scene* s) {
  if (s->rank == 2)
    send_small(0, usual_tag, WORLD);
  recv_from(s, s->rank == 1 ? 0 : 1, usual_tag, WORLD);
}

// 1 was to send, and is in the barrier already; 2 waits for 1.
static void missing_send(const struct scene* s) {
  const MPI_Comm pair = scene_pair(s, 0, 1);
  if (s->rank == 1) {
    scene_ready(s);
    MPI_Barrier(pair);
  } else {
    recv_from(s, 1, usual_tag, WORLD);
  }
}

// 1 was to receive, and is in the barrier already.
static void missing_recv(const struct scene* s) {
  if (s->rank == 0) {
    ssend_to(s, 1, usual_tag, WORLD);
  } else {
    scene_ready(s);
    MPI_Barrier(WORLD);
  }
}

static void self_recv(const struct scene* s) {
  recv_from(s, 0, usual_tag, WORLD);
}

// 1 waits for 0, which sends to itself; 2 computes.
static void self_ssend(const struct scene* s) {
  if (s->rank == 0) {
    ssend_to(s, 0, usual_tag, WORLD);
  } else if (s->rank == 1) {
    recv_from(s, 0, usual_tag, WORLD);
  } else {
    scene_ready(s);
    scene_work(s);
  }
}

static void self_any(const struct scene* s) {
  if (s->rank == 0)
    recv_from(s, MPI_ANY_SOURCE, usual_tag, MPI_COMM_SELF);
  else
    recv_from(s, 0, usual_tag, WORLD);
}

const struct scenario message_scenarios[] = {
    {.name = "recv_ring", .run = recv_ring},
    {.name = "one_on_another_way", .run = one_on_another_way},
    {.name = "send_ring", .run = send_ring},
    {.name = "ssend_ring", .run = ssend_ring},
    {.name = "send_ring_and_one", .run = send_ring_and_one},
    {.name = "long_chain", .run = long_chain},
    {.name = "two_deadlocks", .run = two_deadlocks},
    {.name = "deadlock_beside_work", .run = deadlock_beside_work},
    {.name = "sendrecv_chain", .run = sendrecv_chain},
    {.name = "sendrecv_tags", .run = sendrecv_tags},
    {.name = "sendrecv_beside_isend", .run = sendrecv_beside_isend},
    {.name = "sendrecv_beside_irecv", .run = sendrecv_beside_irecv},
    {.name = "sendrecv_from_nobody", .run = sendrecv_from_nobody},
    {.name = "sendrecv_of_both", .run = sendrecv_of_both},
    {.name = "sendrecv_receives", .run = sendrecv_receives},
    {.name = "wildcard_knot", .run = wildcard_knot},
    {.name = "wildcard_behind", .run = wildcard_behind},
    {.name = "wildcard_master", .run = wildcard_master},
    {.name = "wrong_tag", .run = wrong_tag},
    {.name = "wrong_tag_rendezvous", .run = wrong_tag_rendezvous},
    {.name = "wrong_comm", .run = wrong_comm},
    {.name = "wrong_source", .run = wrong_source},
    {.name = "missing_send", .run = missing_send},
    {.name = "missing_recv", .run = missing_recv},
    {.name = "self_recv", .run = self_recv},
    {.name = "self_ssend", .run = self_ssend},
    {.name = "self_any", .run = self_any},
    {0},
};
