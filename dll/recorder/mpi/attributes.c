/* Attributes of communicators. The recorder asks MPI for the attributes of a new communicator,
 * keyval by keyval: the program's copy functions decide which of them a duplicate has. */

#include "dll/recorder/mpi/communicator.h"
#include "dll/recorder/mpi/handles.h"
#include "dll/recorder/mpi/noted.h"

#include <pthread.h>
#include <stdlib.h>

struct keyval {
  int value;
  enum mqr_predefined_keyval predefined;
};
/* The keyvals for which MPI answers by itself. MPI_UNIVERSE_SIZE is not among them if MPI asks the
 * launcher for it, and may even start a launcher to do so: the recorder learns the value when the
 * program asks. */
static struct keyval* keyvals;
static size_t keyval_count, keyval_room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* A keyval was freed, or not noted: communicators may have attributes that cannot be asked for. */
static int unknown_keyvals;

static size_t find(int value) {
  size_t i = 0;
  while (i < keyval_count && keyvals[i].value != value)
    ++i;
  return i;
}

/* Another tool may make the keyval within the program's call: then it comes here twice. */
static void add(int value, enum mqr_predefined_keyval predefined) {
  pthread_mutex_lock(&lock);
  if (find(value) < keyval_count) {
    pthread_mutex_unlock(&lock);
    return;
  }
  if (keyval_count == keyval_room) {
    const size_t room = 2 * keyval_room + 16;
    struct keyval* const after = realloc(keyvals, room * sizeof *after);
    if (after != NULL) {
      keyvals = after;
      keyval_room = room;
    }
  }
  if (keyval_count < keyval_room)
    keyvals[keyval_count++] = (struct keyval){value, predefined};
  else
    unknown_keyvals = 1;
  pthread_mutex_unlock(&lock);
}

static void forget(int value) {
  pthread_mutex_lock(&lock);
  const size_t at = find(value);
  if (at < keyval_count)
    keyvals[at] = keyvals[--keyval_count];
  pthread_mutex_unlock(&lock);
}

void mqr_open_attributes(void) {
  keyval_count = 0;
  unknown_keyvals = 0;
  add(MPI_TAG_UB, MQR_TAG_UB);
  add(MPI_HOST, MQR_HOST);
  add(MPI_IO, MQR_IO);
  add(MPI_WTIME_IS_GLOBAL, MQR_WTIME_IS_GLOBAL);
#ifdef OPEN_MPI
  add(MPI_UNIVERSE_SIZE, MQR_UNIVERSE_SIZE);
#endif
  add(MPI_APPNUM, MQR_APPNUM);
  add(MPI_LASTUSEDCODE, MQR_LASTUSEDCODE);
}

/* For a predefined attribute MPI gives the address of an int. */
static void note(struct mqr_recorded_communicator* recorded, struct keyval keyval, void* value) {
  struct mqr_attribute attribute = {
      .keyval = keyval.value, .predefined = keyval.predefined, .value = (int64_t)(uintptr_t)value};
  if (keyval.predefined != MQR_OWN_KEYVAL)
    attribute.value = *(const int*)value;
  mqr_communicator_set_attribute(recorded, &attribute);
}

static void ask(MPI_Comm handle, struct mqr_recorded_communicator* recorded, struct keyval keyval) {
  void* value = NULL;
  int is_set = 0;
  if (mqr_mpi.Comm_get_attr(handle, keyval.value, &value, &is_set) == MPI_SUCCESS && is_set)
    note(recorded, keyval, value);
}

void mqr_learn_attributes(MPI_Comm handle, struct mqr_recorded_communicator* recorded) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < keyval_count; ++i)
    ask(handle, recorded, keyvals[i]);
  const int all = !unknown_keyvals;
  pthread_mutex_unlock(&lock);
  if (all)
    mqr_communicator_know_attributes(recorded);
}

static void set(MPI_Comm handle, int keyval, void* value) {
  const struct mqr_comm* const comm = mqr_comm_find(handle);
  if (comm != NULL)
    note(comm->recorded, (struct keyval){keyval, MQR_OWN_KEYVAL}, value);
}

static void unset(MPI_Comm handle, int keyval) {
  const struct mqr_comm* const comm = mqr_comm_find(handle);
  if (comm != NULL)
    mqr_communicator_delete_attribute(comm->recorded, keyval);
}

MQR_NOTED(Comm_create_keyval,
          (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* delete, int* keyval,
           void* extra),
          (copy, delete, keyval, extra))
static int note_Comm_create_keyval(Comm_create_keyval_function* next,
                                   MPI_Comm_copy_attr_function* copy,
                                   MPI_Comm_delete_attr_function* delete, int* keyval,
                                   void* extra) {
  const int result = next(copy, delete, keyval, extra);
  if (result == MPI_SUCCESS)
    add(*keyval, MQR_OWN_KEYVAL);
  return result;
}

/* Communicators keep the attributes of a freed keyval, and MPI still copies them. */
static int free_keyval(int (*next)(int*), int* keyval) {
  const int before = *keyval;
  forget(before); /* MPI may give it to another thread at once */
  const int result = next(keyval);
  if (result != MPI_SUCCESS)
    add(before, MQR_OWN_KEYVAL);
  else if (mqr_attribute_is_set(before))
    __atomic_store_n(&unknown_keyvals, 1, __ATOMIC_RELAXED);
  return result;
}

MQR_NOTED(Comm_free_keyval, (int* keyval), (keyval))
static int note_Comm_free_keyval(Comm_free_keyval_function* next, int* keyval) {
  return free_keyval(next, keyval);
}

MQR_NOTED(Comm_set_attr, (MPI_Comm comm, int keyval, void* value), (comm, keyval, value))
static int note_Comm_set_attr(Comm_set_attr_function* next, MPI_Comm comm, int keyval,
                              void* value) {
  const int result = next(comm, keyval, value);
  if (result == MPI_SUCCESS)
    set(comm, keyval, value);
  return result;
}

MQR_NOTED(Comm_delete_attr, (MPI_Comm comm, int keyval), (comm, keyval))
static int note_Comm_delete_attr(Comm_delete_attr_function* next, MPI_Comm comm, int keyval) {
  const int result = next(comm, keyval);
  if (result == MPI_SUCCESS)
    unset(comm, keyval);
  return result;
}

/* Notes MPI's answers to the program about attributes for which the recorder does not ask. */
static int get(int (*next)(MPI_Comm, int, void*, int*), MPI_Comm handle, int keyval, void* value,
               int* is_set) {
  const int result = next(handle, keyval, value, is_set);
  if (keyval != MPI_UNIVERSE_SIZE || result != MPI_SUCCESS || !*is_set)
    return result;
  const struct mqr_comm* const comm = mqr_comm_find(handle);
  if (comm != NULL)
    note(comm->recorded, (struct keyval){keyval, MQR_UNIVERSE_SIZE}, *(void**)value);
  return result;
}

MQR_NOTED(Comm_get_attr, (MPI_Comm comm, int keyval, void* value, int* is_set),
          (comm, keyval, value, is_set))
static int note_Comm_get_attr(Comm_get_attr_function* next, MPI_Comm comm, int keyval, void* value,
                              int* is_set) {
  return get(next, comm, keyval, value, is_set);
}

/* The same functions by their names of MPI 1. */

MQR_NOTED(Attr_get, (MPI_Comm comm, int keyval, void* value, int* is_set),
          (comm, keyval, value, is_set))
static int note_Attr_get(Attr_get_function* next, MPI_Comm comm, int keyval, void* value,
                         int* is_set) {
  return get(next, comm, keyval, value, is_set);
}

MQR_NOTED(Keyval_create,
          (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* delete, int* keyval,
           void* extra),
          (copy, delete, keyval, extra))
static int note_Keyval_create(Keyval_create_function* next, MPI_Comm_copy_attr_function* copy,
                              MPI_Comm_delete_attr_function* delete, int* keyval, void* extra) {
  const int result = next(copy, delete, keyval, extra);
  if (result == MPI_SUCCESS)
    add(*keyval, MQR_OWN_KEYVAL);
  return result;
}

MQR_NOTED(Keyval_free, (int* keyval), (keyval))
static int note_Keyval_free(Keyval_free_function* next, int* keyval) {
  return free_keyval(next, keyval);
}

MQR_NOTED(Attr_put, (MPI_Comm comm, int keyval, void* value), (comm, keyval, value))
static int note_Attr_put(Attr_put_function* next, MPI_Comm comm, int keyval, void* value) {
  const int result = next(comm, keyval, value);
  if (result == MPI_SUCCESS)
    set(comm, keyval, value);
  return result;
}

MQR_NOTED(Attr_delete, (MPI_Comm comm, int keyval), (comm, keyval))
static int note_Attr_delete(Attr_delete_function* next, MPI_Comm comm, int keyval) {
  const int result = next(comm, keyval);
  if (result == MPI_SUCCESS)
    unset(comm, keyval);
  return result;
}

/* MPI_LASTUSEDCODE is the only predefined attribute that MPI changes: these calls change it. */

static void ask_last_code(struct mqr_comm* comm) {
  if (!comm->asked)
    return;
  ask(comm->handle, comm->recorded, (struct keyval){MPI_LASTUSEDCODE, MQR_LASTUSEDCODE});
}

MQR_NOTED(Add_error_class, (int* class), (class))
static int note_Add_error_class(Add_error_class_function* next, int* class) {
  const int result = next(class);
  mqr_comm_for_each(ask_last_code);
  return result;
}

MQR_NOTED(Add_error_code, (int class, int* code), (class, code))
static int note_Add_error_code(Add_error_code_function* next, int class, int* code) {
  const int result = next(class, code);
  mqr_comm_for_each(ask_last_code);
  return result;
}
