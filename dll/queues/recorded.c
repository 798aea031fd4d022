#include "dll/queues/recorded.h"

#include "dll/queues/errors.h"

size_t common_size(const struct target* target, const unsigned char* theirs, size_t ours) {
  const size_t size = target_u16(target, theirs);
  return size < ours ? size : ours;
}

struct list list_at(const struct target* target, const unsigned char* bytes) {
  return (struct list){target_u64(target, MEMBER(bytes, mqr_list, first)),
                       target_u32(target, MEMBER(bytes, mqr_list, count))};
}

static uint32_t swapped(uint32_t value) {
  return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

#define ROOT(member) MEMBER(bytes, mqr_root, member)

/* Checks before any value is believed that this is a root, and that its platform is the one that
 * the host states. */
static int check_form(const struct target* target, const unsigned char* bytes) {
  const uint32_t magic = target_u32(target, ROOT(magic));
  if (magic == swapped(MQR_MAGIC_ROOT))
    return QUEUES_BYTE_ORDER;
  if (magic != MQR_MAGIC_ROOT)
    return QUEUES_BAD_MAGIC;
  if (target_u16(target, ROOT(version_major)) != MQR_VERSION_MAJOR)
    return QUEUES_VERSION;
  if (target_u16(target, ROOT(address_size)) != target->address_size)
    return QUEUES_ADDRESS_SIZE;
  if (target_u16(target, ROOT(root_size)) < MQR_ROOT_SIZE_1_0 ||
      target_u16(target, ROOT(communicator_size)) < MQR_COMMUNICATOR_SIZE_1_0 ||
      target_u16(target, ROOT(operation_size)) < MQR_OPERATION_SIZE_1_0)
    return QUEUES_SIZES;
  switch (target_u32(target, ROOT(state))) {
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

/* Fetches the fields of version 1.0 first: they say how much there is. Fields of later versions are
 * 0 in an older recorder. */
int root_read(const struct target* target, mqs_taddr_t address, struct root* root) {
  unsigned char bytes[sizeof(struct mqr_root)] = {0};
  *root = (struct root){0};
  if (!target_read(target, address, MQR_ROOT_SIZE_1_0, bytes))
    return QUEUES_UNREADABLE;
  const int code = check_form(target, bytes);
  if (code != mqs_ok)
    return code;
  const size_t size = common_size(target, ROOT(root_size), sizeof bytes);
  if (size > MQR_ROOT_SIZE_1_0 && !target_read(target, address + MQR_ROOT_SIZE_1_0,
                                               size - MQR_ROOT_SIZE_1_0, bytes + MQR_ROOT_SIZE_1_0))
    return QUEUES_UNREADABLE;
  root->generation = target_u32(target, ROOT(generation));
  root->updating = root->generation % 2 != 0;
  root->flags = target_u32(target, ROOT(flags));
  root->communicator_size =
      common_size(target, ROOT(communicator_size), sizeof(struct mqr_communicator));
  root->operation_size = common_size(target, ROOT(operation_size), sizeof(struct mqr_operation));
  root->communicators = list_at(target, ROOT(communicators));
  root->handles = target_u64(target, ROOT(handles));
  return mqs_ok;
}

#define COMMUNICATOR(member) MEMBER(bytes, mqr_communicator, member)

int communicator_decode(const struct target* target, const unsigned char* bytes,
                        struct communicator* out) {
  const uint32_t kind = target_u32(target, COMMUNICATOR(node.kind));
  out->id = target_u64(target, COMMUNICATOR(id));
  out->name = target_u64(target, COMMUNICATOR(name));
  out->group = target_u64(target, COMMUNICATOR(group));
  out->remote_group = target_u64(target, COMMUNICATOR(remote_group));
  out->inter = kind == MQR_INTER;
  out->local_rank = target_i32(target, COMMUNICATOR(local_rank));
  out->size = target_i32(target, COMMUNICATOR(size));
  out->remote_size = target_i32(target, COMMUNICATOR(remote_size));
  out->flags = target_u32(target, COMMUNICATOR(flags));
  for (size_t i = 0; i < MQR_QUEUES; ++i)
    out->queues[i] = list_at(target, COMMUNICATOR(queues) + i * sizeof(struct mqr_list));
  out->returned = target_u32(target, COMMUNICATOR(returned));
  out->returned_sends = target_u64(target, COMMUNICATOR(returned_sends));
  out->under_way = list_at(target, COMMUNICATOR(under_way));
  out->handle = target_u64(target, COMMUNICATOR(handle));
  out->fortran = target_i32(target, COMMUNICATOR(fortran));
  out->known = target_u32(target, COMMUNICATOR(known));
  out->errhandler = target_u64(target, COMMUNICATOR(errhandler));
  out->topology = target_u64(target, COMMUNICATOR(topology));
  out->attributes = target_u64(target, COMMUNICATOR(attributes));
  return kind <= MQR_INTER && out->size >= 1 && out->size <= MQR_MAX_GROUP &&
                 out->local_rank >= 0 && out->local_rank < out->size
             ? mqs_ok
             : QUEUES_CORRUPT;
}

struct cursor cursor_at(struct list list, const char* what, uint32_t magic, int updating) {
  return (struct cursor){.what = what,
                         .magic = magic,
                         .updating = updating,
                         .count = list.count,
                         .next = list.first,
                         .mark_at = 1};
}

/* Sets the cursor to the end of the walk, in case the walk is continued. */
static int give_up(struct cursor* cursor, int code) {
  cursor->next = 0;
  cursor->count = 0;
  return code;
}

static int fault(struct cursor* cursor, int code, mqs_taddr_t address) {
  return give_up(cursor, queues_fault(code, cursor->what, address));
}

/* A stop between the two stores of an update leaves the count one off. */
static int check_end(struct cursor* cursor) {
  const uint64_t least = cursor->seen + (cursor->updating ? 1 : 0);
  if (cursor->count > least)
    return fault(cursor, QUEUES_TOO_SHORT, cursor->last);
  return mqs_end_of_list;
}

int cursor_advance(struct cursor* cursor, const struct target* target, void* node, size_t size,
                   mqs_taddr_t* address) {
  const mqs_taddr_t at = cursor->next;
  if (at == 0)
    return check_end(cursor);
  if (at == cursor->mark)
    return fault(cursor, QUEUES_CYCLE, at);
  ++cursor->seen;
  if (cursor->seen > (uint64_t)cursor->count + (cursor->updating ? 1 : 0))
    return fault(cursor, QUEUES_TOO_LONG, at);
  if (cursor->seen == cursor->mark_at) {
    cursor->mark = at;
    cursor->mark_at *= 2;
  }
  const int code = target_fetch(target, cursor->what, at, size, node);
  if (code != mqs_ok)
    return give_up(cursor, code);
  if (target_u32(target, MEMBER(node, mqr_node, magic)) != cursor->magic)
    return fault(cursor, QUEUES_BAD_MAGIC, at);
  cursor->next = target_u64(target, MEMBER(node, mqr_node, next));
  *address = cursor->last = at;
  return mqs_ok;
}
