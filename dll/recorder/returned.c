#include "dll/recorder/returned.h"

#include "dll/recorder/publish.h"

#include <stdlib.h>

static struct mqr_returned* new_ring(void) {
  struct mqr_returned* const ring = malloc(MQR_RETURNED * sizeof *ring);
  if (ring != NULL)
    for (int i = 0; i < MQR_RETURNED; ++i)
      ring[i] = (struct mqr_returned){.peer = MQR_NO_PEER};
  return ring;
}

int mqr_returned_add(struct mqr_communicator* communicator, const struct mqr_operation* send) {
  struct mqr_returned* ring = mqr_address_in(&communicator->returned_sends);
  if (ring == NULL) {
    ring = new_ring();
    if (ring == NULL)
      return 0;
    mqr_publish(&communicator->returned_sends, ring);
  }
  struct mqr_returned* const entry = &ring[communicator->returned % MQR_RETURNED];
  entry->peer = send->peer;
  entry->tag = send->tag;
  entry->length = send->length;
  entry->number = send->number;
  entry->function = send->flags >> MQR_FUNCTION_SHIFT;
  entry->site = send->site;
  mqr_publish_word(&communicator->returned, communicator->returned + 1); /* believed from here on */
  return 1;
}
