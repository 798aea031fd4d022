#include "dll/recorder/mpi/listed_variables.h"

#include "dll/recorder/mpi/variable_value.h"

#include <stdlib.h>
#include <string.h>

struct seen_enumeration {
  MPI_T_enum handle;
  int32_t entry;
};

/* The objects that are needed while all variables are listed. */
struct work {
  struct mqr_listing listing;
  char name[MQR_MAX_VARIABLE_TEXT];
  char description[MQR_MAX_VARIABLE_TEXT];
  _Alignas(16) char value[MQR_MAX_VALUE];
  struct seen_enumeration* enumerations;
  size_t enumeration_count, enumeration_room;
  int* numbers;
  size_t number_room;
};

/* The index of MPI's `constant` among the `constants`. */
static int32_t place_in(const int* constants, size_t count, int constant) {
  for (size_t i = 0; i < count; ++i) {
    if (constants[i] == constant)
      return (int32_t)i;
  }
  return MQR_NOT_KNOWN;
}
#define PLACE_IN(constants, constant)                                                              \
  place_in(constants, sizeof(constants) / sizeof(constants)[0], constant)

static const int verbosities[] = {
    MPI_T_VERBOSITY_USER_BASIC,   MPI_T_VERBOSITY_USER_DETAIL,   MPI_T_VERBOSITY_USER_ALL,
    MPI_T_VERBOSITY_TUNER_BASIC,  MPI_T_VERBOSITY_TUNER_DETAIL,  MPI_T_VERBOSITY_TUNER_ALL,
    MPI_T_VERBOSITY_MPIDEV_BASIC, MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_VERBOSITY_MPIDEV_ALL};
static const int bindings[] = {
    MPI_T_BIND_NO_OBJECT,      MPI_T_BIND_MPI_COMM,    MPI_T_BIND_MPI_DATATYPE,
    MPI_T_BIND_MPI_ERRHANDLER, MPI_T_BIND_MPI_FILE,    MPI_T_BIND_MPI_GROUP,
    MPI_T_BIND_MPI_OP,         MPI_T_BIND_MPI_REQUEST, MPI_T_BIND_MPI_WIN,
    MPI_T_BIND_MPI_MESSAGE,    MPI_T_BIND_MPI_INFO,
};
static const int scopes[] = {MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL,
                             MPI_T_SCOPE_GROUP,    MPI_T_SCOPE_GROUP_EQ, MPI_T_SCOPE_ALL,
                             MPI_T_SCOPE_ALL_EQ};
static const int classes[] = {MPI_T_PVAR_CLASS_STATE,         MPI_T_PVAR_CLASS_LEVEL,
                              MPI_T_PVAR_CLASS_SIZE,          MPI_T_PVAR_CLASS_PERCENTAGE,
                              MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_PVAR_CLASS_LOWWATERMARK,
                              MPI_T_PVAR_CLASS_COUNTER,       MPI_T_PVAR_CLASS_AGGREGATE,
                              MPI_T_PVAR_CLASS_TIMER,         MPI_T_PVAR_CLASS_GENERIC};

/* Adds a text. MPI cuts it if it is longer than its room, and says how long it is. */
static uint32_t add_text(struct work* work, char* text, int length) {
  text[MQR_MAX_VARIABLE_TEXT - 1] = '\0';
  if (length > MQR_MAX_VARIABLE_TEXT)
    work->listing.flags |= MQR_VARIABLES_CUT;
  return mqr_listing_add_text(&work->listing, text);
}

/* The number of entries that are listed, of those that are there. */
static int bounded(struct work* work, int there, int most) {
  if (there <= most)
    return there;
  work->listing.flags |= MQR_VARIABLES_CUT;
  return most;
}

static void add_items(struct work* work, MPI_T_enum handle, struct mqr_enumeration* made,
                      int there) {
  const int count = bounded(work, there, MQR_MAX_ENUMERATION_ITEMS);
  for (int i = 0; i < count; ++i) {
    struct mqr_enumeration_item item = {0, 0};
    int value = 0;
    int length = MQR_MAX_VARIABLE_TEXT;
    work->name[0] = '\0';
    if (mqr_tool.enum_get_item(handle, i, &value, work->name, &length) != MPI_SUCCESS) {
      work->listing.flags |= MQR_VARIABLES_CUT;
      continue;
    }
    item.value = value;
    item.name = add_text(work, work->name, length);
    const uint32_t entry = mqr_listing_add(&work->listing, MQR_PART_ITEMS, &item, 1);
    if (made->count++ == 0)
      made->first = entry;
  }
}

/* Many variables share an enumeration: each is listed once. */
static int32_t enumeration_of(struct work* work, MPI_T_enum handle) {
  if (handle == MPI_T_ENUM_NULL)
    return MQR_NO_ENUMERATION;
  for (size_t i = 0; i < work->enumeration_count; ++i) {
    if (work->enumerations[i].handle == handle)
      return work->enumerations[i].entry;
  }
  struct mqr_enumeration made = {0, 0, 0, 0};
  int there = 0;
  int length = MQR_MAX_VARIABLE_TEXT;
  work->name[0] = '\0';
  if (mqr_tool.enum_get_info(handle, &there, work->name, &length) != MPI_SUCCESS)
    return MQR_NO_ENUMERATION;
  made.name = add_text(work, work->name, length);
  add_items(work, handle, &made, there);
  const int32_t entry = (int32_t)mqr_listing_add(&work->listing, MQR_PART_ENUMERATIONS, &made, 1);
  if (work->enumeration_count == work->enumeration_room) {
    const size_t room = work->enumeration_room * 2 + 64;
    struct seen_enumeration* const grown = realloc(work->enumerations, room * sizeof *grown);
    if (grown == NULL)
      return entry;
    work->enumerations = grown;
    work->enumeration_room = room;
  }
  work->enumerations[work->enumeration_count++] = (struct seen_enumeration){handle, entry};
  return entry;
}

static void add_control_variable(struct work* work, int index) {
  struct mqr_variable made = {
      .kind = MQR_CONTROL_VARIABLE, .index = (uint32_t)index, .performance_class = MQR_NOT_KNOWN};
  int name_length = MQR_MAX_VARIABLE_TEXT;
  int description_length = MQR_MAX_VARIABLE_TEXT;
  int verbosity = 0, binding = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumeration = MPI_T_ENUM_NULL;
  work->name[0] = work->description[0] = '\0';
  if (mqr_tool.cvar_get_info(index, work->name, &name_length, &verbosity, &type, &enumeration,
                             work->description, &description_length, &binding,
                             &scope) != MPI_SUCCESS)
    return; /* the variable's component has been closed */
  made.name = add_text(work, work->name, name_length);
  made.description = add_text(work, work->description, description_length);
  made.verbosity = PLACE_IN(verbosities, verbosity);
  made.binding = PLACE_IN(bindings, binding);
  made.scope = PLACE_IN(scopes, scope);
  made.enumeration = enumeration_of(work, enumeration);
  mqr_describe_value(&made, type);
  mqr_list_value(&work->listing, &made, work->value);
  mqr_listing_add(&work->listing, MQR_PART_VARIABLES, &made, 1);
}

/* Whether a variable is bound to nothing, or to a communicator. */
static int can_be_bound(int binding) {
  return binding == MPI_T_BIND_NO_OBJECT || binding == MPI_T_BIND_MPI_COMM;
}

static enum mqr_value_state state_of(const struct mqr_variable* made, int binding) {
  if ((made->flags & MQR_VARIABLE_CONTINUOUS) == 0)
    return MQR_VALUE_STOPPED;
  if (!can_be_bound(binding))
    return MQR_VALUE_BOUND;
  if (made->form == MQR_FORM_UNKNOWN)
    return MQR_VALUE_FORM;
  return mqr_tool_may_read((int)made->index) ? MQR_VALUE_SAMPLED : MQR_VALUE_UNUSED;
}

static void add_performance_variable(struct work* work, int index, mqr_take_variable* take) {
  struct mqr_variable made = {
      .kind = MQR_PERFORMANCE_VARIABLE, .index = (uint32_t)index, .scope = MQR_NOT_KNOWN};
  int name_length = MQR_MAX_VARIABLE_TEXT;
  int description_length = MQR_MAX_VARIABLE_TEXT;
  int verbosity = 0, class = 0, binding = 0, readonly = 0, continuous = 0, atomic = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumeration = MPI_T_ENUM_NULL;
  work->name[0] = work->description[0] = '\0';
  if (mqr_tool.pvar_get_info(index, work->name, &name_length, &verbosity, &class, &type,
                             &enumeration, work->description, &description_length, &binding,
                             &readonly, &continuous, &atomic) != MPI_SUCCESS)
    return;
  made.name = add_text(work, work->name, name_length);
  made.description = add_text(work, work->description, description_length);
  made.verbosity = PLACE_IN(verbosities, verbosity);
  made.binding = PLACE_IN(bindings, binding);
  made.performance_class = PLACE_IN(classes, class);
  made.enumeration = enumeration_of(work, enumeration);
  made.flags = (readonly ? (uint32_t)MQR_VARIABLE_READONLY : 0) |
               (continuous ? (uint32_t)MQR_VARIABLE_CONTINUOUS : 0) |
               (atomic ? (uint32_t)MQR_VARIABLE_ATOMIC : 0);
  mqr_describe_value(&made, type);
  made.state = state_of(&made, binding);
  const uint32_t entry = mqr_listing_add(&work->listing, MQR_PART_VARIABLES, &made, 1);
  if (made.state == MQR_VALUE_SAMPLED && !work->listing.failed)
    take(&made, entry);
}

typedef int get_numbers(int category, int count, int numbers[]);

/* Adds the members that `get` gives, and returns their number. */
static uint32_t add_members(struct work* work, get_numbers* get, int category, int there) {
  const int count = bounded(work, there, MQR_MAX_VARIABLES);
  if (count <= 0)
    return 0;
  if ((size_t)count > work->number_room) {
    int* const grown = realloc(work->numbers, (size_t)count * sizeof *grown);
    if (grown == NULL)
      return (uint32_t)bounded(work, count, 0);
    work->numbers = grown;
    work->number_room = (size_t)count;
  }
  if (get(category, count, work->numbers) != MPI_SUCCESS)
    return (uint32_t)bounded(work, count, 0);
  mqr_listing_add(&work->listing, MQR_PART_MEMBERS, work->numbers, (uint32_t)count);
  return (uint32_t)count;
}

static void add_category(struct work* work, int index) {
  struct mqr_category made = {.index = (uint32_t)index};
  int name_length = MQR_MAX_VARIABLE_TEXT;
  int description_length = MQR_MAX_VARIABLE_TEXT;
  int controls = 0, performances = 0, categories = 0;
  work->name[0] = work->description[0] = '\0';
  if (mqr_tool.category_get_info(index, work->name, &name_length, work->description,
                                 &description_length, &controls, &performances,
                                 &categories) != MPI_SUCCESS)
    return;
  made.name = add_text(work, work->name, name_length);
  made.description = add_text(work, work->description, description_length);
  made.first = mqr_listing_add(&work->listing, MQR_PART_MEMBERS, NULL, 0);
  made.controls = add_members(work, mqr_tool.category_get_cvars, index, controls);
  made.performances = add_members(work, mqr_tool.category_get_pvars, index, performances);
  made.categories = add_members(work, mqr_tool.category_get_categories, index, categories);
  mqr_listing_add(&work->listing, MQR_PART_CATEGORIES, &made, 1);
}

struct mqr_variables* mqr_list_all(uint64_t when, mqr_take_variable* take) {
  struct work* const work = calloc(1, sizeof *work);
  int controls = 0, performances = 0, categories = 0;
  if (work == NULL)
    return NULL;
  mqr_listing_open(&work->listing);
  mqr_tool.cvar_get_num(&controls);
  mqr_tool.pvar_get_num(&performances);
  mqr_tool.category_get_num(&categories);
  controls = bounded(work, controls, MQR_MAX_VARIABLES);
  performances = bounded(work, performances, MQR_MAX_VARIABLES);
  categories = bounded(work, categories, MQR_MAX_VARIABLES);
  for (int i = 0; i < controls; ++i)
    add_control_variable(work, i);
  for (int i = 0; i < performances; ++i)
    add_performance_variable(work, i, take);
  for (int i = 0; i < categories; ++i)
    add_category(work, i);
  struct mqr_variables* const block = mqr_listing_finish(&work->listing, when);
  free(work->enumerations);
  free(work->numbers);
  free(work);
  return block;
}
