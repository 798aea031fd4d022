#include "dll/recorder/mpi/variable_value.h"

#include "dll/recorder/mpi/datatype.h"

#include <string.h>

static int begins(const char* text, const char* with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* MPI allows few datatypes here; Open MPI has some more. */
static enum mqr_value_form form_of(const char* datatype) {
  if (strcmp(datatype, "MPI_CHAR") == 0)
    return MQR_FORM_TEXT;
  if (begins(datatype, "MPI_UNSIGNED") || begins(datatype, "MPI_UINT") ||
      strcmp(datatype, "MPI_C_BOOL") == 0)
    return MQR_FORM_UNSIGNED;
  if (begins(datatype, "MPI_INT") || begins(datatype, "MPI_LONG") ||
      strcmp(datatype, "MPI_COUNT") == 0 || strcmp(datatype, "MPI_SHORT") == 0)
    return MQR_FORM_SIGNED;
  if (strcmp(datatype, "MPI_DOUBLE") == 0 || strcmp(datatype, "MPI_FLOAT") == 0)
    return MQR_FORM_FLOATING;
  return MQR_FORM_UNKNOWN;
}

/* "MPI_LONG_DOUBLE" and "MPI_LONG_INT" begin like integers. */
static int has_known_size(enum mqr_value_form form, uint64_t size) {
  switch (form) {
  case MQR_FORM_TEXT:
    return size == 1;
  case MQR_FORM_FLOATING:
    return size == 4 || size == 8;
  case MQR_FORM_SIGNED:
  case MQR_FORM_UNSIGNED:
    return size == 1 || size == 2 || size == 4 || size == 8;
  default:
    return 0;
  }
}

void mqr_describe_value(struct mqr_variable* variable, MPI_Datatype handle) {
  const struct mqr_type* const type = mqr_type_of(handle);
  const enum mqr_value_form form = form_of(type->name.text);
  memcpy(variable->datatype, type->name.text, sizeof variable->datatype);
  if (!has_known_size(form, type->size))
    return;
  variable->form = form;
  variable->element = (uint32_t)type->size;
}

static int read_elements(const struct mqr_variable* variable, MPI_T_cvar_handle handle, char* room,
                         uint32_t* state, int count) {
  if (count < 0 || (uint32_t)count > MQR_MAX_VALUE / variable->element) {
    *state = MQR_VALUE_LARGE;
    return MPI_SUCCESS;
  }
  memset(room, 0, (size_t)count * variable->element);
  return mqr_tool.cvar_read(handle, room);
}

#ifdef OPEN_MPI
/* MPI_T copies texts of any length, and counts 2,048 bytes for each: Open MPI's own function, which
 * MPI_T calls itself, says where the text is. */
static int read_text(const struct mqr_variable* variable, MPI_T_cvar_handle handle, char* room,
                     uint32_t* state, int* count) {
  (void)handle;
  typedef int value_function(int index, const void* value, int* source, const char** file);
  static value_function* get_value;
  const char* const* storage = NULL;
  if (get_value == NULL)
    get_value = (value_function*)mqr_find_function("mca_base_var_get_value", NULL);
  if (get_value == NULL || get_value((int)variable->index, &storage, NULL, NULL) != 0) {
    *state = MQR_VALUE_FORM;
    return MPI_SUCCESS;
  }
  const char* const text = storage != NULL && *storage != NULL ? *storage : "";
  *count = (int)strnlen(text, MQR_MAX_VALUE);
  if (*count == MQR_MAX_VALUE)
    *state = MQR_VALUE_LARGE;
  memcpy(room, text, (size_t)*count);
  return MPI_SUCCESS;
}
#else
/* A text without its terminating 0 has been cut. */
static int read_text(const struct mqr_variable* variable, MPI_T_cvar_handle handle, char* room,
                     uint32_t* state, int* count) {
  const int error = read_elements(variable, handle, room, state, *count);
  if (error != MPI_SUCCESS || *state != MQR_VALUE_READ)
    return error;
  const int length = (int)strnlen(room, (size_t)*count);
  if (length == *count && length > 0)
    *state = MQR_VALUE_LARGE;
  *count = length;
  return MPI_SUCCESS;
}
#endif

static int read(const struct mqr_variable* variable, char* room, uint32_t* state, int* count) {
  MPI_T_cvar_handle handle;
  int error = mqr_tool.cvar_handle_alloc((int)variable->index, NULL, &handle, count);
  if (error != MPI_SUCCESS)
    return error;
  error = variable->form == MQR_FORM_TEXT ? read_text(variable, handle, room, state, count)
                                          : read_elements(variable, handle, room, state, *count);
  mqr_tool.cvar_handle_free(&handle);
  return error;
}

void mqr_list_value(struct mqr_listing* listing, struct mqr_variable* variable, char* room) {
  int count = 0;
  variable->state = MQR_VALUE_READ;
  if (variable->form == MQR_FORM_UNKNOWN)
    variable->state = MQR_VALUE_FORM;
  else if (variable->binding != 0)
    variable->state = MQR_VALUE_BOUND;
  else
    variable->error = read(variable, room, &variable->state, &count);
  if (variable->error != MPI_SUCCESS)
    variable->state = MQR_VALUE_REFUSED;
  if (variable->state != MQR_VALUE_READ)
    return;
  variable->count = (uint32_t)count;
  variable->value =
      mqr_listing_add(listing, MQR_PART_VALUES, room, variable->count * variable->element);
}
