#ifndef MQBRIDGE_DLL_QUEUES_RECORDED_H
#define MQBRIDGE_DLL_QUEUES_RECORDED_H

/* The recorder's structures in a target (dll/recorder/layout.h), as both debug DLLs read them: the
 * one for queues and the one for handles. Fetched values are checked before they are believed. */

#include "dll/queues/target.h"
#include "dll/recorder/layout.h"

/* Where a member of a fetched structure is among its bytes. */
#define MEMBER(bytes, structure, member)                                                           \
  ((const unsigned char*)(bytes) + offsetof(struct structure, member))

/* The size of the part of a structure that both sides know. `theirs`: the place of the size that
 * the recorder tells. */
size_t common_size(const struct target* target, const unsigned char* theirs, size_t ours);

/* A struct mqr_list of the target. */
struct list {
  mqs_taddr_t first;
  uint32_t count;
};
struct list list_at(const struct target* target, const unsigned char* bytes);

/* The struct mqr_root. */
struct root {
  uint32_t generation;
  int updating;   /* the process was stopped in the middle of an update */
  uint32_t flags; /* enum mqr_root_flags */
  /* Bytes of the recorder's nodes that this DLL knows; newer recorders have more. */
  size_t communicator_size;
  size_t operation_size;
  struct list communicators;
  mqs_taddr_t handles; /* 0: the recorder keeps no handles */
};
/* Returns mqs_ok, or a code of errors.h: then `root` has no values. */
int root_read(const struct target* target, mqs_taddr_t address, struct root* root);

/* A struct mqr_communicator. The address of a missing part is 0. */
struct communicator {
  mqs_taddr_t id, name, group, remote_group;
  int inter;
  int32_t local_rank, size, remote_size;
  uint32_t flags; /* enum mqr_communicator_flags */
  struct list queues[MQR_QUEUES];
  uint32_t returned;
  mqs_taddr_t returned_sends;
  struct list under_way;
  mqs_taddr_t handle;
  int32_t fortran;
  uint32_t known; /* enum mqr_communicator_known */
  mqs_taddr_t errhandler, topology, attributes;
};
/* Decodes the bytes of a node. Returns mqs_ok or QUEUES_CORRUPT. */
int communicator_decode(const struct target* target, const unsigned char* bytes,
                        struct communicator* out);

/* A position in a list. The list may be garbage: whatever it holds, the walk ends. */
struct cursor {
  const char* what; /* "communicator", for faults */
  uint32_t magic;   /* of each node */
  int updating;     /* if set, the count may be one off (layout.h) */
  uint32_t count;
  uint64_t seen;
  mqs_taddr_t next;
  mqs_taddr_t last; /* the node before it; 0 at the beginning */
  mqs_taddr_t mark; /* a node seen earlier; coming back to it is a cycle (Brent) */
  uint64_t mark_at; /* the number of nodes seen when the mark moves on */
};

/* A cursor in front of the first node. */
struct cursor cursor_at(struct list list, const char* what, uint32_t magic, int updating);

/* Fetches the next node, `size` bytes in one fetch. Returns mqs_end_of_list if there is none and
 * the count is right. A code of errors.h means that the walk is over. */
int cursor_advance(struct cursor* cursor, const struct target* target, void* node, size_t size,
                   mqs_taddr_t* address);

#endif
