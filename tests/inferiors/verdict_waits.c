// Deadlocks in calls that wait for requests, and in probes.

#include "tests/inferiors/verdict.h"

#include <unistd.h>

#define WORLD MPI_COMM_WORLD

static void waitall(const struct scene* s, int count, MPI_Request* requests) {
  scene_ready(s);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void waitany(const struct scene* s, int count, MPI_Request* requests) {
  int index = 0;
  scene_ready(s);
  MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
}

// 0 has what it wants from 1, and not from 2, which waits for 0; 1 waits for 2.
static void waitall_one_left(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), irecv_small(2, 2, WORLD)};
    waitall(s, 2, requests);
  } else {
    if (s->rank == 1)
      send_small(0, 1, WORLD);
    recv_from(s, s->rank == 1 ? 2 : 0, usual_tag, WORLD);
  }
}

static void waitall_sends(const struct scene* s) {
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i)
    MPI_Isend(scene_buffer(), large, MPI_BYTE, (s->rank + 1) % s->size, i, WORLD, &requests[i]);
  waitall(s, 2, requests);
}

// 0 waits for 1 in both: 1 has begun no barrier and waits for 0; 2 waits for 1.
static void waitall_ibarrier(const struct scene* s) {
  const MPI_Comm pair = scene_pair(s, 0, 1);
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), MPI_REQUEST_NULL};
    MPI_Ibarrier(pair, &requests[1]);
    waitall(s, 2, requests);
  } else {
    recv_from(s, s->rank - 1, usual_tag, WORLD);
  }
}

// The message is there: the reduction alone is missing.
static void waitall_iallreduce(const struct scene* s) {
  static int in[2];
  static int out[2];
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), MPI_REQUEST_NULL};
    MPI_Iallreduce(in, out, 2, MPI_INT, MPI_SUM, WORLD, &requests[1]);
    waitall(s, 2, requests);
  } else {
    send_small(0, 1, WORLD);
    recv_from(s, 0, usual_tag, WORLD);
  }
}

static void waitany_knot(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), irecv_small(2, 2, WORLD)};
    waitany(s, 2, requests);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

static void waitany_ibarrier(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), MPI_REQUEST_NULL};
    MPI_Ibarrier(WORLD, &requests[1]);
    waitany(s, 2, requests);
  } else {
    recv_from(s, 0, usual_tag, WORLD);
  }
}

// 0 waits for 1 or 2, 1 sends to 2, 2 waits for 0; 3 waits for 1.
static void waitsome_knot(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), irecv_small(2, 2, WORLD)};
    int done = 0;
    int indices[2];
    scene_ready(s);
    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  } else if (s->rank == 1) {
    ssend_to(s, 2, usual_tag, WORLD);
  } else {
    recv_from(s, s->rank == 2 ? 0 : 1, usual_tag, WORLD);
  }
}

// 1 will send, in time: 0 does not wait for that.
static void wait_second(const struct scene* s) {
  if (s->rank == 0) {
    MPI_Request requests[] = {irecv_small(1, 1, WORLD), irecv_small(2, 2, WORLD)};
    scene_ready(s);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  } else if (s->rank == 2) {
    recv_from(s, 0, usual_tag, WORLD);
  } else {
    scene_ready(s);
    scene_work(s);
    send_small(0, 1, WORLD);
  }
}

static void probe_ring(const struct scene* s) {
  scene_ready(s);
  MPI_Probe((s->rank + 1) % s->size, usual_tag, WORLD, MPI_STATUS_IGNORE);
}

static void mprobe_ring(const struct scene* s) {
  MPI_Message message = MPI_MESSAGE_NULL;
  scene_ready(s);
  MPI_Mprobe((s->rank + 1) % s->size, usual_tag, WORLD, &message, MPI_STATUS_IGNORE);
}

static void probe_knot(const struct scene* s) {
  scene_ready(s);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
}

// Each has a send of its own that it has forgotten to start.
static void never_started(const struct scene* s) {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Recv_init(scene_buffer(), small, MPI_BYTE, 1 - s->rank, usual_tag, WORLD, &receive);
  MPI_Send_init(scene_buffer(), small, MPI_BYTE, 1 - s->rank, usual_tag, WORLD, &send);
  MPI_Start(&receive);
  scene_ready(s);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

static void test_loops(const struct scene* s) {
  MPI_Request request = irecv_small(1 - s->rank, usual_tag, WORLD);
  scene_ready(s);
  for (int done = 0; !done;)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void test_loops_asleep(const struct scene* s) {
  MPI_Request request = irecv_small((s->rank + 1) % s->size, usual_tag, WORLD);
  scene_ready(s);
  for (int done = 0; !done; usleep(1000))
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

// One request each, which MPI_Wait waits for.
static void wait_ring(const struct scene* s) {
  MPI_Request request = irecv_small((s->rank + 1) % s->size, usual_tag, WORLD);
  scene_ready(s);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_issend(const struct scene* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Issend(scene_buffer(), small, MPI_BYTE, (s->rank + 1) % s->size, usual_tag, WORLD, &request);
  scene_ready(s);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int no_query(void* state, MPI_Status* status) {
  (void)state;
  return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int no_free(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int no_cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

// As wait_ring, after a generalized request that is complete.
static void wait_after_generalized(const struct scene* s) {
  MPI_Request generalized = MPI_REQUEST_NULL;
  MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &generalized);
  MPI_Grequest_complete(generalized);
  MPI_Wait(&generalized, MPI_STATUS_IGNORE);
  wait_ring(s);
}

// 0 waits for a barrier that 1 does not enter.
static void wait_ibarrier(const struct scene* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (s->rank == 1)
    return recv_from(s, 0, usual_tag, WORLD);
  MPI_Ibarrier(WORLD, &request);
  scene_ready(s);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// A persistent receive and send, which have been used once.
static void used_once(int peer, MPI_Request requests[2]) {
  MPI_Recv_init(scene_buffer(), small, MPI_BYTE, peer, usual_tag, WORLD, &requests[0]);
  MPI_Send_init(scene_buffer(), small, MPI_BYTE, peer, usual_tag, WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// Persistent requests, a second time: 1 forgets to start its send.
static void persistent_again(const struct scene* s) {
  MPI_Request requests[2];
  const int peer = 1 - s->rank;
  used_once(peer, requests);
  if (s->rank == 0)
    MPI_Startall(2, requests);
  else
    MPI_Start(&requests[0]);
  if (s->rank == 0)
    scene_ready(s);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  recv_from(s, peer, 1, WORLD);
}

// The same, and both forget it.
static void persistent_again_both(const struct scene* s) {
  MPI_Request requests[2];
  used_once(1 - s->rank, requests);
  MPI_Start(&requests[0]);
  scene_ready(s);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// All start all, and the tags differ from round two on.
static void persistent_other_tag(const struct scene* s) {
  MPI_Request requests[3];
  const int next = (s->rank + 1) % s->size;
  const int previous = (s->rank + s->size - 1) % s->size;
  MPI_Recv_init(scene_buffer(), small, MPI_BYTE, previous, 1, WORLD, &requests[0]);
  MPI_Send_init(scene_buffer(), small, MPI_BYTE, next, 1, WORLD, &requests[1]);
  MPI_Recv_init(scene_buffer(), small, MPI_BYTE, previous, 2, WORLD, &requests[2]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Startall(3, requests);
  scene_ready(s);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

const struct scenario waiting_scenarios[] = {
    {.name = "waitall_one_left", .run = waitall_one_left},
    {.name = "waitall_sends", .run = waitall_sends},
    {.name = "waitall_ibarrier", .run = waitall_ibarrier},
    {.name = "waitall_iallreduce", .run = waitall_iallreduce},
    {.name = "waitany_knot", .run = waitany_knot},
    {.name = "waitany_ibarrier", .run = waitany_ibarrier},
    {.name = "waitsome_knot", .run = waitsome_knot},
    {.name = "wait_second", .run = wait_second},
    {.name = "probe_ring", .run = probe_ring},
    {.name = "mprobe_ring", .run = mprobe_ring},
    {.name = "probe_knot", .run = probe_knot},
    {.name = "never_started", .run = never_started},
    {.name = "test_loops", .run = test_loops},
    {.name = "test_loops_asleep", .run = test_loops_asleep},
    {.name = "wait_ring", .run = wait_ring},
    {.name = "wait_issend", .run = wait_issend},
    {.name = "wait_after_generalized", .run = wait_after_generalized},
    {.name = "wait_ibarrier", .run = wait_ibarrier},
    {.name = "persistent_again", .run = persistent_again},
    {.name = "persistent_again_both", .run = persistent_again_both},
    {.name = "persistent_other_tag", .run = persistent_other_tag},
    {0},
};
