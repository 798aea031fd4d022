#ifndef MQBRIDGE_DLL_QUEUES_CURSOR_H
#define MQBRIDGE_DLL_QUEUES_CURSOR_H

#include "dll/queues/target.h"

/* A struct mqr_list of the target. */
struct list {
  mqs_taddr_t first;
  uint32_t count;
};

/* A place in a list. The list may be garbage: whatever it holds, the walk comes to an end. */
struct cursor {
  const char* what; /* "communicator", for faults */
  uint32_t magic;   /* of each node */
  int updating;     /* then the count may be one off (layout.h) */
  uint32_t count;
  uint64_t seen;
  mqs_taddr_t next;
  mqs_taddr_t last; /* the one before it; 0 at the beginning */
  mqs_taddr_t mark; /* a node seen earlier; coming back to it is a cycle (Brent) */
  uint64_t mark_at; /* the number of nodes seen when the mark moves on */
};

/* Before the first node. */
struct cursor cursor_at(struct list list, const char* what, uint32_t magic, int updating);

/* Fetches the next node, `size` bytes in one fetch. mqs_end_of_list: there is none, and the count
 * is right. Else a code of errors.h; then the walk is over. */
int cursor_advance(struct cursor* cursor, const struct target* target, void* node, size_t size,
                   mqs_taddr_t* address);

#endif
