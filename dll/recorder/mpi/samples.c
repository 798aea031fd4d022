#include "dll/recorder/mpi/samples.h"

#include <stdlib.h>
#include <string.h>

enum { most_communicators = 64 };

struct sampled_variable {
  uint32_t entry; /* of MQR_PART_VARIABLES */
  int index;      /* MPI's */
  int is_bound;
  uint32_t element; /* bytes */
};

struct sampled_communicator {
  MPI_Comm handle; /* stays where it is: MPI_T may keep its address */
  uint64_t id;
  struct sampled_communicator* next;
};

/* A variable of one communicator, or of none. */
struct sampled {
  struct sampled_variable variable;
  const struct sampled_communicator* communicator; /* NULL: bound to nothing */
  MPI_T_pvar_handle handle;
  uint32_t count;
  uint32_t state;
  int32_t error;
};

static MPI_T_pvar_session session;
static int has_session;
static struct sampled_variable* variables;
static size_t variable_count, variable_room;
static struct sampled_communicator* communicators;
static int communicator_count;
static int lacks_memory; /* something could not be added */
static struct sampled* all;
static size_t count, room;
static size_t value_bytes; /* of all values */

static void* with_room(void* array, size_t used, size_t* there, size_t size) {
  if (used < *there)
    return array;
  const size_t wanted = *there * 2 + 16;
  void* const grown = realloc(array, wanted * size);
  if (grown != NULL)
    *there = wanted;
  return grown;
}

static uint32_t bytes_of(const struct sampled* each) {
  return each->state == MQR_VALUE_READ ? each->count * each->variable.element : 0;
}

static size_t aligned(size_t bytes) {
  return (bytes + 7) & ~(size_t)7;
}

static void add(const struct sampled_variable* variable, struct sampled_communicator* to) {
  struct sampled* const grown = with_room(all, count, &room, sizeof *all);
  if (grown == NULL) {
    lacks_memory = 1;
    return;
  }
  all = grown;
  struct sampled made = {.variable = *variable, .communicator = to, .state = MQR_VALUE_READ};
  int elements = 0;
  made.error = mqr_tool.pvar_handle_alloc(session, variable->index, to != NULL ? &to->handle : NULL,
                                          &made.handle, &elements);
  const size_t most = MQR_MAX_SAMPLES_SIZE / 2 - value_bytes; /* the rest is for the readings */
  if (made.error != MPI_SUCCESS) {
    made.state = MQR_VALUE_REFUSED;
  } else if (elements < 0 || (size_t)elements > most / variable->element) {
    made.state = MQR_VALUE_LARGE;
    mqr_tool.pvar_handle_free(session, &made.handle);
  } else {
    made.count = (uint32_t)elements;
  }
  value_bytes += aligned(bytes_of(&made));
  all[count++] = made;
}

static void drop(const struct sampled* each) {
  MPI_T_pvar_handle handle = each->handle;
  if (each->state == MQR_VALUE_READ)
    mqr_tool.pvar_handle_free(session, &handle);
  value_bytes -= aligned(bytes_of(each));
}

int mqr_samples_open(void) {
  has_session = mqr_tool.pvar_session_create(&session) == MPI_SUCCESS;
  return has_session;
}

void mqr_samples_close(void) {
  for (size_t i = 0; i < count; ++i)
    drop(&all[i]);
  if (has_session)
    mqr_tool.pvar_session_free(&session);
  has_session = 0;
  count = 0;
  variable_count = 0;
}

void mqr_samples_take(const struct mqr_variable* described, uint32_t entry) {
  struct sampled_variable* const grown =
      with_room(variables, variable_count, &variable_room, sizeof *variables);
  if (grown == NULL) {
    lacks_memory = 1;
    return;
  }
  variables = grown;
  const struct sampled_variable taken = {.entry = entry,
                                         .index = (int)described->index,
                                         .is_bound = described->binding != 0,
                                         .element = described->element};
  variables[variable_count++] = taken;
  if (!taken.is_bound)
    add(&taken, NULL);
  for (struct sampled_communicator* each = communicators; taken.is_bound && each != NULL;
       each = each->next)
    add(&taken, each);
}

void mqr_samples_add_communicator(MPI_Comm comm, uint64_t id) {
  if (communicator_count == most_communicators)
    return; /* readers see that it has no reading */
  struct sampled_communicator* const made = malloc(sizeof *made);
  if (made == NULL) {
    lacks_memory = 1;
    return;
  }
  *made = (struct sampled_communicator){comm, id, NULL};
  struct sampled_communicator** last = &communicators;
  while (*last != NULL)
    last = &(*last)->next;
  *last = made;
  ++communicator_count;
  for (size_t i = 0; i < variable_count; ++i) {
    if (variables[i].is_bound)
      add(&variables[i], made);
  }
}

void mqr_samples_remove_communicator(MPI_Comm comm) {
  struct sampled_communicator** link = &communicators;
  while (*link != NULL && (*link)->handle != comm)
    link = &(*link)->next;
  struct sampled_communicator* const gone = *link;
  if (gone == NULL)
    return;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (all[i].communicator == gone)
      drop(&all[i]);
    else
      all[kept++] = all[i];
  }
  count = kept;
  *link = gone->next;
  --communicator_count;
  free(gone);
}

void mqr_samples_forget_communicators(void) {
  while (communicators != NULL) {
    struct sampled_communicator* const gone = communicators;
    communicators = gone->next;
    free(gone);
  }
  communicator_count = 0;
  lacks_memory = 0;
}

/* Reads one value. 0: MPI_T is not there any more. */
static int read(const struct sampled* each, struct mqr_samples* block, uint32_t at,
                struct mqr_reading* reading) {
  *reading = (struct mqr_reading){.variable = each->variable.entry,
                                  .state = each->state,
                                  .error = each->error,
                                  .value = at,
                                  .count = each->count};
  if (each->communicator != NULL) {
    reading->bound = 1;
    reading->communicator = each->communicator->id;
  }
  if (each->state != MQR_VALUE_READ)
    return 1;
  reading->error = mqr_tool.pvar_read(session, each->handle, (char*)block + at);
  if (reading->error != MPI_SUCCESS)
    reading->state = MQR_VALUE_REFUSED;
  return reading->error != MPI_T_ERR_NOT_INITIALIZED;
}

int mqr_samples_read(uint64_t when) {
  if (count == 0)
    return 1;
  const size_t most =
      (MQR_MAX_SAMPLES_SIZE / 2 - sizeof(struct mqr_samples)) / sizeof(struct mqr_reading);
  const uint32_t readings = (uint32_t)(count < most ? count : most);
  uint32_t at = (uint32_t)(sizeof(struct mqr_samples) + readings * sizeof(struct mqr_reading));
  struct mqr_samples* const block = calloc(1, at + value_bytes);
  if (block == NULL)
    return 1;
  block->magic = MQR_MAGIC_SAMPLES;
  block->size = at + (uint32_t)value_bytes;
  block->taken = when;
  block->flags = lacks_memory || readings < count ? (uint32_t)MQR_SAMPLES_CUT : 0;
  block->readings =
      (struct mqr_part){.at = sizeof *block, .count = readings, .size = sizeof(struct mqr_reading)};
  for (uint32_t i = 0; i < readings; ++i) {
    if (!read(&all[i], block, at, (struct mqr_reading*)(void*)(block + 1) + i)) {
      free(block);
      return 0;
    }
    at += (uint32_t)aligned(bytes_of(&all[i]));
  }
  mqr_samples_publish(block);
  return 1;
}
