/* The block that everything hangs on. */

#include "dll/queues/errors.h"
#include "dll/queues/info.h"

#include <string.h>

#define ROOT(bytes, member) ((bytes) + offsetof(struct mqr_root, member))

static uint32_t swapped(uint32_t value) {
  return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

/* Before any of its values is believed: is it a root, and of this platform as the host sees it? */
static int check_form(const struct target* target, const unsigned char* bytes) {
  const uint32_t magic = target_u32(target, ROOT(bytes, magic));
  if (magic == swapped(MQR_MAGIC_ROOT))
    return QUEUES_BYTE_ORDER;
  if (magic != MQR_MAGIC_ROOT)
    return QUEUES_BAD_MAGIC;
  if (target_u16(target, ROOT(bytes, version_major)) != MQR_VERSION_MAJOR)
    return QUEUES_VERSION;
  if (target_u16(target, ROOT(bytes, address_size)) != target->address_size)
    return QUEUES_ADDRESS_SIZE;
  if (target_u16(target, ROOT(bytes, root_size)) < MQR_ROOT_SIZE_1_0 ||
      target_u16(target, ROOT(bytes, communicator_size)) < MQR_COMMUNICATOR_SIZE_1_0 ||
      target_u16(target, ROOT(bytes, operation_size)) < MQR_OPERATION_SIZE_1_0)
    return QUEUES_SIZES;
  return mqs_ok;
}

static int check_state(uint32_t state) {
  switch (state) {
  case MQR_INITIALIZED:
    return mqs_ok;
  case MQR_NOT_INITIALIZED:
    return QUEUES_NOT_INITIALIZED;
  case MQR_FINALIZED:
    return QUEUES_FINALIZED;
  default:
    return QUEUES_CORRUPT;
  }
}

/* What both sides have of a structure. */
static size_t common_size(const struct target* target, const unsigned char* theirs, size_t ours) {
  const size_t size = target_u16(target, theirs);
  return size < ours ? size : ours;
}

/* What version 1.0 has comes first: it says how much there is. Fields of a later version are 0 in
 * an older recorder. */
static int fetch_root(const mqs_process_info* info, unsigned char* bytes) {
  const struct target* const target = &info->target;
  int code = target_fetch(target, MQR_ROOT_SYMBOL, info->root, MQR_ROOT_SIZE_1_0, bytes);
  if (code != mqs_ok)
    return code;
  code = check_form(target, bytes);
  if (code == mqs_ok)
    code = check_state(target_u32(target, ROOT(bytes, state)));
  if (code != mqs_ok)
    return queues_fault(code, MQR_ROOT_SYMBOL, info->root);
  const size_t size = common_size(target, ROOT(bytes, root_size), sizeof(struct mqr_root));
  if (size == MQR_ROOT_SIZE_1_0)
    return mqs_ok;
  return target_fetch(target, MQR_ROOT_SYMBOL, info->root + MQR_ROOT_SIZE_1_0,
                      size - MQR_ROOT_SIZE_1_0, bytes + MQR_ROOT_SIZE_1_0);
}

int queues_read_root(mqs_process_info* info) {
  const struct target* const target = &info->target;
  unsigned char bytes[sizeof(struct mqr_root)] = {0};
  memset(&info->communicators, 0, sizeof info->communicators);
  const int code = fetch_root(info, bytes);
  if (code != mqs_ok)
    return code;
  info->communicator_size =
      common_size(target, ROOT(bytes, communicator_size), sizeof(struct mqr_communicator));
  info->operation_size =
      common_size(target, ROOT(bytes, operation_size), sizeof(struct mqr_operation));
  info->flags = target_u32(target, ROOT(bytes, flags));
  info->updating = (target_u32(target, ROOT(bytes, generation)) & 1) != 0;
  const unsigned char* const list = ROOT(bytes, communicators);
  info->communicators.first = target_u64(target, list + offsetof(struct mqr_list, first));
  info->communicators.count = target_u32(target, list + offsetof(struct mqr_list, count));
  return mqs_ok;
}
