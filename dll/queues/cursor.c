#include "dll/queues/cursor.h"

#include "dll/queues/errors.h"
#include "dll/recorder/layout.h"

struct cursor cursor_at(struct list list, const char* what, uint32_t magic, int updating) {
  return (struct cursor){.what = what,
                         .magic = magic,
                         .updating = updating,
                         .count = list.count,
                         .next = list.first,
                         .mark_at = 1};
}

/* Asked again, the walk is at its end. */
static int give_up(struct cursor* cursor, int code) {
  cursor->next = 0;
  cursor->count = 0;
  return code;
}

static int fault(struct cursor* cursor, int code, mqs_taddr_t address) {
  return give_up(cursor, queues_fault(code, cursor->what, address));
}

/* One off is what a stop between the two stores of an update leaves. */
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
  const unsigned char* const bytes = node;
  if (target_u32(target, bytes + offsetof(struct mqr_node, magic)) != cursor->magic)
    return fault(cursor, QUEUES_BAD_MAGIC, at);
  cursor->next = target_u64(target, bytes + offsetof(struct mqr_node, next));
  *address = cursor->last = at;
  return mqs_ok;
}
