#ifndef MQBRIDGE_DLL_RECORDER_LIST_H
#define MQBRIDGE_DLL_RECORDER_LIST_H

/* Lists that readers follow by `next` alone, and that their writer can leave in the middle. */

#include "dll/recorder/layout.h"

/* The writer's side of a node, which no reader looks at. */
struct mqr_member {
  struct mqr_node* node;
  struct mqr_member* previous;
  struct mqr_member* next;
};

/* The writer's side of a list. */
struct mqr_members {
  struct mqr_list* shared;
  struct mqr_member* first;
  struct mqr_member* last;
};

/* One store of one word. Everything stored before it can be seen by whoever sees it. */
static inline void mqr_publish(struct mqr_slot* slot, const void* address) {
  __atomic_store_n(&slot->word, (uintptr_t)address, __ATOMIC_RELEASE);
}
static inline void mqr_publish_word(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* `member->node` is complete but for its `next`. */
void mqr_list_append(struct mqr_members* members, struct mqr_member* member);
void mqr_list_remove(struct mqr_members* members, struct mqr_member* member);

#endif
