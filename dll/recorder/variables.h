#ifndef MQBRIDGE_DLL_RECORDER_VARIABLES_H
#define MQBRIDGE_DLL_RECORDER_VARIABLES_H

/* How the blocks of variables_layout.h are made and published. Knows nothing of MPI. */

#include "dll/recorder/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A part that is being made: its entries so far. */
struct mqr_growing {
  char* bytes;
  uint32_t size; /* bytes of one entry */
  uint32_t count;
  size_t capacity; /* bytes */
};

/* A block that is being made. One thread at a time. */
struct mqr_listing {
  struct mqr_growing parts[MQR_PARTS];
  size_t bytes; /* of all parts */
  int failed;   /* no memory, or the block would be too large: nothing is added any more */
  uint32_t flags;
};

void mqr_listing_open(struct mqr_listing* listing);
/* Adds entries to a part, and returns the number of the first one. Where the listing has failed
 * that number says nothing. */
uint32_t mqr_listing_add(struct mqr_listing* listing, enum mqr_part_number part,
                         const void* entries, uint32_t count);
/* The text's offset. NULL: "". */
uint32_t mqr_listing_add_text(struct mqr_listing* listing, const char* text);
/* Makes the block, and gives the listing's memory back. NULL: no memory; an incomplete listing is
 * marked MQR_VARIABLES_CUT. */
struct mqr_variables* mqr_listing_finish(struct mqr_listing* listing, uint64_t when);

/* Replace the published block, and free it. The new blocks come from malloc(), and belong to the
 * recorder from here on. New variables have no samples. Any thread. */
void mqr_variables_publish(struct mqr_variables* block);
void mqr_samples_publish(struct mqr_samples* block);

#ifdef __cplusplus
}
#endif

#endif
