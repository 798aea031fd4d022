#ifndef MQBRIDGE_DLL_QUEUES_INFO_H
#define MQBRIDGE_DLL_QUEUES_INFO_H

#include "dll/queues/cursor.h"
#include "dll/queues/interface.h"
#include "dll/queues/returned.h"
#include "dll/queues/target.h"
#include "dll/recorder/layout.h"

/* The host's table [MQD 5.6.1]: set before anything else is called. */
extern const mqs_basic_callbacks* queues_host;

/* What the DLL keeps with an image [MQD 5.3]; memory of the host's. */
struct mqs_image_info_ {
  const mqs_image_callbacks* callbacks;
  mqs_taddr_t root; /* address of the struct mqr_root */
};

/* The communicator that the iteration is at. */
struct current_communicator {
  int valid;
  mqs_taddr_t id;
  mqs_taddr_t name;         /* addresses */
  mqs_taddr_t group;        /* 0: not known */
  mqs_taddr_t remote_group; /* 0: not known */
  int inter;
  int32_t local_rank;
  int32_t size;
  int32_t remote_size;
  struct list queues[MQR_QUEUES];
  uint32_t returned;
  mqs_taddr_t returned_sends; /* 0: there are none */
};

/* What the DLL keeps with a process. */
struct mqs_process_info_ {
  struct target target;
  mqs_taddr_t root;
  int updating;   /* the process was stopped in the middle of an update */
  uint32_t flags; /* enum mqr_root_flags */
  /* Bytes of the recorder's nodes; of newer ones, as many as this DLL knows. */
  size_t communicator_size;
  size_t operation_size;
  struct list communicators;
  struct cursor communicator_cursor;
  struct current_communicator communicator;
  struct cursor operation_cursor;
  int op_class; /* of operation_cursor */
  struct returned_walk returned;
};

/* Reads and checks the struct mqr_root; then the info knows what hangs on it. */
int queues_read_root(mqs_process_info* info);

#endif
