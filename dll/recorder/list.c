#include "dll/recorder/list.h"

void mqr_list_append(struct mqr_members* members, struct mqr_member* member) {
  struct mqr_member* const last = members->last;
  mqr_publish(&member->node->next, NULL);
  member->previous = last;
  member->next = NULL;
  /* Readers have it from this store on. */
  mqr_publish(last != NULL ? &last->node->next : &members->shared->first, member->node);
  mqr_publish_word(&members->shared->count, members->shared->count + 1);
  *(last != NULL ? &last->next : &members->first) = member;
  members->last = member;
}

void mqr_list_remove(struct mqr_members* members, struct mqr_member* member) {
  struct mqr_member* const previous = member->previous;
  struct mqr_member* const next = member->next;
  /* Readers pass it by from this store on. */
  mqr_publish(previous != NULL ? &previous->node->next : &members->shared->first,
              next != NULL ? next->node : NULL);
  mqr_publish_word(&members->shared->count, members->shared->count - 1);
  *(previous != NULL ? &previous->next : &members->first) = next;
  *(next != NULL ? &next->previous : &members->last) = previous;
}
