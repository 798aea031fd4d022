#ifndef MQBRIDGE_DLL_RECORDER_LIST_H
#define MQBRIDGE_DLL_RECORDER_LIST_H

/* Lists for one writer and many readers. Readers follow `next` alone; the writer can also remove
 * nodes from the middle. */

#include "dll/recorder/publish.h"

/* The writer's fields of a node lie directly in front of it. Eight bytes on every platform. */
union mqr_front {
  struct mqr_node* previous;
  uint64_t bytes;
};

/* The writer's fields of a list. */
struct mqr_members {
  struct mqr_list* shared;
  struct mqr_node* last;
};

static inline union mqr_front* mqr_front_of(struct mqr_node* node) {
  return (union mqr_front*)(void*)node - 1;
}

static inline struct mqr_node* mqr_next(const struct mqr_node* node) {
  return mqr_address_in(&node->next);
}

/* `node` is complete but for its `next`. */
static inline void mqr_list_append(struct mqr_members* members, struct mqr_node* node) {
  struct mqr_node* const last = members->last;
  node->next.word = 0;
  mqr_front_of(node)->previous = last;
  /* Readers have it from this store on. */
  mqr_publish(last != NULL ? &last->next : &members->shared->first, node);
  mqr_publish_word(&members->shared->count, members->shared->count + 1);
  members->last = node;
}

/* The node keeps its `next`: a reader that stands on it can go on. */
static inline void mqr_list_remove(struct mqr_members* members, struct mqr_node* node) {
  struct mqr_node* const previous = mqr_front_of(node)->previous;
  struct mqr_node* const next = mqr_next(node);
  /* Readers pass it by from this store on. */
  mqr_publish(previous != NULL ? &previous->next : &members->shared->first, next);
  mqr_publish_word(&members->shared->count, members->shared->count - 1);
  if (next != NULL)
    mqr_front_of(next)->previous = previous;
  else
    members->last = previous;
}

#endif
