#include "dll/queues/cursor.h"

#include "dll/queues/errors.h"
#include "dll/recorder/layout.h"

struct cursor cursor_at(struct list list, const char* what, uint32_t magic, int updating) {
  struct cursor cursor = {what, magic, updating, list.count, 0, list.first, 0, 1};
  return cursor;
}

static int fault(struct cursor* cursor, int code, mqs_taddr_t address) {
  cursor->next = 0;
  cursor->count = 0;
  cursor->seen = 0; /* asked again, the walk is at its end */
  return queues_fault(code, cursor->what, address);
}

/* One off is what a stop between the two stores of an update leaves. */
static int check_end(struct cursor* cursor, mqs_taddr_t last) {
  const uint64_t least = cursor->seen + (cursor->updating ? 1 : 0);
  return cursor->count > least ? fault(cursor, QUEUES_TOO_SHORT, last) : mqs_end_of_list;
}

int cursor_advance(struct cursor* cursor, const struct target* target, void* node, size_t size,
                   mqs_taddr_t* address) {
  const mqs_taddr_t at = cursor->next;
  if (at == 0)
    return check_end(cursor, cursor->mark);
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
  if (code != mqs_ok) {
    cursor->next = 0;
    cursor->count = 0;
    return code;
  }
  const unsigned char* const bytes = node;
  if (target_u32(target, bytes + offsetof(struct mqr_node, magic)) != cursor->magic)
    return fault(cursor, QUEUES_BAD_MAGIC, at);
  cursor->next = target_u64(target, bytes + offsetof(struct mqr_node, next));
  *address = at;
  return mqs_ok;
}
