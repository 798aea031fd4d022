#ifndef MQBRIDGE_DLL_RECORDER_CHANNELS_H
#define MQBRIDGE_DLL_RECORDER_CHANNELS_H

/* Tables of counters by peer and tag: struct mqr_channels. */

#include "dll/recorder/layout.h"

enum {
  MQR_MAX_PEERS = 1 << 24 /* entries of a table that no reader reads: one for each rank */
};

/* The entry of a peer and tag, made if there is none yet. `table` leads to the table; it may be
 * replaced by a larger one of at most `most` entries. If the table is full, this is the peer's
 * entry MQR_OTHER_TAGS. NULL: no memory, or no room even for that. The generation must be odd. */
struct mqr_channel* mqr_channel_at(struct mqr_slot* table, int32_t peer, int32_t tag,
                                   uint32_t most);

#endif
