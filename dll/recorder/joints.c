/* The calls in which this process met processes of other jobs. The list never loses one. */

#include "dll/recorder/core.h"

#include <stdlib.h>

/* An entry of the list; readers read `shared`. */
struct recorded_joint {
  union mqr_front front;
  struct mqr_joint shared;
};
MQR_BEHIND_FRONT(recorded_joint);

enum mqr_result mqr_joint_add(const struct mqr_joint_spec* spec) {
  struct recorded_joint* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return MQR_NO_MEMORY;
  struct mqr_joint* const shared = &made->shared;
  shared->node.magic = MQR_MAGIC_JOINT;
  shared->id = spec->id;
  shared->base = spec->base;
  shared->path = spec->path;
  shared->began = spec->began;
  shared->ended = spec->ended;
  shared->sequence = spec->sequence;
  shared->function = spec->function;
  shared->size = spec->size;
  shared->remote_size = spec->remote_size;
  mqr_copy_text(shared->mark, MQR_MARK_SIZE, spec->mark);
  if (!mqr_lock_ready()) {
    free(made);
    return MQR_BAD_STATE;
  }
  const int full = mqbridge_recorder.joints.count == MQR_MAX_JOINTS;
  if (!full) {
    mqr_begin_update();
    mqr_list_append(&mqr_core.joints, &shared->node);
    mqr_end_update();
  }
  mqr_unlock();
  if (full)
    free(made);
  return full ? MQR_NO_MEMORY : MQR_OK;
}

void mqr_joints_release(struct mqr_node* first) {
  while (first != NULL) {
    struct mqr_node* const next = mqr_next(first);
    free(mqr_front_of(first));
    first = next;
  }
}
