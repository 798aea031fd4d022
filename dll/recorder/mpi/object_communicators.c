#include "dll/recorder/mpi/object_communicators.h"

#include <pthread.h>
#include <stdlib.h>

struct mqr_owned {
  const void* object;
  struct mqr_comm* comm;
  struct mqr_owned* next;
};
struct mqr_objects_of mqr_windows;
struct mqr_objects_of mqr_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(struct mqr_objects_of* all, const void* object, struct mqr_comm* comm) {
  struct mqr_owned* const made = malloc(sizeof *made);
  if (made == NULL) {
    mqr_comm_freed(comm);
    return;
  }
  *made = (struct mqr_owned){object, comm, NULL};
  pthread_mutex_lock(&lock);
  made->next = all->first;
  all->first = made;
  pthread_mutex_unlock(&lock);
}

static struct mqr_owned** find_locked(struct mqr_objects_of* all, const void* object) {
  struct mqr_owned** link = &all->first;
  while (*link != NULL && (*link)->object != object)
    link = &(*link)->next;
  return link;
}

void mqr_object_made(struct mqr_objects_of* all, const void* object,
                     const struct mqr_entered* entered, const char* name) {
  struct mqr_comm* const comm =
      entered->comm != NULL ? mqr_comm_make_internal(entered->comm, entered->sequence, name) : NULL;
  if (comm != NULL)
    keep(all, object, comm);
}

const struct mqr_comm* mqr_object_comm(struct mqr_objects_of* all, const void* object) {
  pthread_mutex_lock(&lock);
  const struct mqr_owned* const owned = *find_locked(all, object);
  const struct mqr_comm* const comm = owned != NULL ? owned->comm : NULL;
  pthread_mutex_unlock(&lock);
  return comm;
}

struct mqr_comm* mqr_object_withdraw(struct mqr_objects_of* all, const void* object) {
  pthread_mutex_lock(&lock);
  struct mqr_owned** const link = find_locked(all, object);
  struct mqr_owned* const gone = *link;
  struct mqr_comm* const comm = gone != NULL ? gone->comm : NULL;
  if (gone != NULL)
    *link = gone->next;
  pthread_mutex_unlock(&lock);
  free(gone);
  return comm;
}

void mqr_object_not_freed(struct mqr_objects_of* all, const void* object, struct mqr_comm* comm) {
  if (comm != NULL)
    keep(all, object, comm);
}

struct mqr_entered mqr_enter_collective_of(const struct mqr_call* call, enum mqr_function function,
                                           struct mqr_objects_of* all, const void* object) {
  return mqr_enter_collective_on(call, function, mqr_object_comm(all, object), MQR_NO_ROOT);
}

void mqr_enter_of(const struct mqr_call* call, enum mqr_function function,
                  struct mqr_objects_of* all, const void* object) {
  mqr_enter_on(call, function, mqr_object_comm(all, object));
}
