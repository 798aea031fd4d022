#pragma once

#include <stdint.h>

/* What recorder_traffic.c records, and stopped_traffic_test.cpp knows of it: whatever is recorded
 * of a message follows from its peer and its tag, so that a value that is half of one update and
 * half of another shows. */
enum {
  traffic_threads = 4,
  traffic_peers = 16, /* of each thread: thread * traffic_peers, ... */
  traffic_tags = 61,
  traffic_window = 8, /* sends, and as many receives, that MPI_Waitall waits for */
  traffic_roots = 7,  /* of a collective: its sequence modulo these */
  traffic_behind = 64 /* more messages than that are never under way on one channel */
};

static inline uint64_t traffic_length(int32_t peer, int32_t tag) {
  return UINT64_C(0x100000001) * (uint64_t)(1000 + 13 * peer + 7 * tag);
}
static inline uintptr_t traffic_buffer(int32_t peer, int32_t tag) {
  return (uintptr_t)(0x10000 + peer * 65536 + tag * 8);
}
static inline uintptr_t traffic_site(int32_t peer, int32_t tag) {
  return traffic_buffer(peer, tag) + 1;
}
/* Of a thread's call. */
static inline uintptr_t traffic_call_site(uint32_t function) {
  return 0x1000 + 16 * (uintptr_t)function;
}
