#ifndef MQBRIDGE_DLL_QUEUES_RETURNED_H
#define MQBRIDGE_DLL_QUEUES_RETURNED_H

#include "dll/queues/interface.h"
#include "dll/recorder/layout.h"

enum { RETURNED_PEERS = 32 };

/* The sends of the current communicator that have returned: the list behind its pending sends. */
struct returned_walk {
  unsigned char ring[MQR_RETURNED * sizeof(struct mqr_returned)]; /* as in the target */
  uint32_t next; /* places in the ring that were read; the oldest send is at 0 */
  uint32_t end;  /* 0: there is no ring */
  /* World ranks that were fetched: most processes send to few others. By peer % RETURNED_PEERS. */
  struct {
    int32_t peer; /* MQR_NO_PEER: none yet */
    int world;
  } known[RETURNED_PEERS];
  int code;              /* of fetching the ring */
  int newest_is_pending; /* it is among the pending sends, too: the stop is within its update */
};

/* Fetches the ring. Where it cannot be read returned_next() says so: the pending sends come first.
 */
void returned_open(mqs_process_info* info);
/* From here on returned_next() finds nothing. */
void returned_close(mqs_process_info* info);
/* To be told of each pending send, as it is in the target. */
void returned_note(mqs_process_info* info, const unsigned char* operation);
/* mqs_end_of_list: there is none. */
int returned_next(mqs_process_info* info, mqs_pending_operation* out);

/* The extra line that names a node's address. */
void queues_node_line(char* line, mqs_taddr_t address);

#endif
