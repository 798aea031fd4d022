#ifndef MQBRIDGE_DLL_QUEUES_INFO_H
#define MQBRIDGE_DLL_QUEUES_INFO_H

#include "dll/queues/interface.h"
#include "dll/queues/recorded.h"
#include "dll/queues/returned.h"

/* The host's table [MQD 5.6.1]: set before anything else is called. */
extern const mqs_basic_callbacks* queues_host;

/* What the DLL keeps with an image [MQD 5.3]; memory of the host's. */
struct mqs_image_info_ {
  const mqs_image_callbacks* callbacks;
  mqs_taddr_t root; /* address of the struct mqr_root */
};

/* What the DLL keeps with a process. */
struct mqs_process_info_ {
  struct target target;
  mqs_taddr_t root_at; /* address of the struct mqr_root */
  struct root root;
  struct cursor communicator_cursor;
  int at_communicator; /* `communicator` is the one that the iteration is at */
  struct communicator communicator;
  struct cursor operation_cursor;
  int op_class; /* of operation_cursor */
  struct returned_walk returned;
};

/* Reads and checks the struct mqr_root; then the info knows what hangs on it. */
int queues_read_root(mqs_process_info* info);

#endif
