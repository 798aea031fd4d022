#ifndef MQBRIDGE_DLL_QUEUES_TARGET_H
#define MQBRIDGE_DLL_QUEUES_TARGET_H

#include "dll/queues/interface.h"

#include <stddef.h>
#include <stdint.h>

/* A target's memory and number formats, as the host tells them. */
struct target {
  mqs_process* process;
  const mqs_process_callbacks* callbacks;
  int address_size; /* bytes: 4 or 8 */
};

/* Reads `size` bytes as they are in the target [MQD 5.6.20]. 0: it cannot. */
int target_read(const struct target* target, mqs_taddr_t address, size_t size, void* into);
/* The same. mqs_ok, or a code of errors.h, once the fault was printed: `what` is at `address`. */
int target_fetch(const struct target* target, const char* what, mqs_taddr_t address, size_t size,
                 void* into);

/* Integers of the target among fetched bytes, as the host's [MQD 5.6.21]: widths are the layout's,
 * the order is the target's. */
uint16_t target_u16(const struct target* target, const void* bytes);
uint32_t target_u32(const struct target* target, const void* bytes);
uint64_t target_u64(const struct target* target, const void* bytes);
int32_t target_i32(const struct target* target, const void* bytes);

/* Whether a zero-extended address (struct mqr_slot) is one of this target. */
int target_has_address(const struct target* target, mqs_taddr_t address);

#endif
