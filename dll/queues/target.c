#include "dll/queues/target.h"

#include "dll/queues/errors.h"

#include <limits.h>

int target_read(const struct target* target, mqs_taddr_t address, size_t size, void* into) {
  return address != 0 && size <= INT_MAX && target_has_address(target, address) &&
         target->callbacks->mqs_fetch_data_fp(target->process, address, (int)size, into) == mqs_ok;
}

int target_fetch(const struct target* target, const char* what, mqs_taddr_t address, size_t size,
                 void* into) {
  return target_read(target, address, size, into) ? mqs_ok
                                                  : queues_fault(QUEUES_UNREADABLE, what, address);
}

static void convert(const struct target* target, const void* bytes, void* into, int size) {
  target->callbacks->mqs_target_to_host_fp(target->process, bytes, into, size);
}

uint16_t target_u16(const struct target* target, const void* bytes) {
  uint16_t value = 0;
  convert(target, bytes, &value, sizeof value);
  return value;
}

uint32_t target_u32(const struct target* target, const void* bytes) {
  uint32_t value = 0;
  convert(target, bytes, &value, sizeof value);
  return value;
}

uint64_t target_u64(const struct target* target, const void* bytes) {
  uint64_t value = 0;
  convert(target, bytes, &value, sizeof value);
  return value;
}

int32_t target_i32(const struct target* target, const void* bytes) {
  int32_t value = 0;
  convert(target, bytes, &value, sizeof value);
  return value;
}

int target_has_address(const struct target* target, mqs_taddr_t address) {
  return target->address_size == 8 || address <= UINT32_MAX;
}
