/* Offsets, and tables of objects. */

#include "dll/handles/openmpi/layout.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char* type;
  const char* field;
  int bytes;
} fields[] = {
#define FIELD(constant, type, field, bytes) {type, field, bytes},
    OPENMPI_FIELDS
#undef FIELD
};

static const char* const symbols[] = {
#define SYMBOL(constant, name) name,
    OPENMPI_SYMBOLS
#undef SYMBOL
};

/* An opal_class_t has been the same in each version: two addresses (name and parent), two of
 * functions, two ints, two addresses, and the size of an object. openmpi_open() finds out whether
 * it really looks so. */
static mqs_taddr_t parent_of_class(const mqs_process_info* process, mqs_taddr_t class) {
  return class + (mqs_taddr_t)process->target.address_size;
}

int openmpi_class(const mqs_process_info* process, mqs_taddr_t class, mqs_taddr_t* name,
                  uint64_t* size) {
  const mqs_taddr_t to_size = 6 * (mqs_taddr_t)process->target.address_size + 2 * sizeof(int32_t);
  return handles_pointer(process, class, name) && handles_pointer(process, class + to_size, size);
}

enum { LONGEST_TYPE = 64 };

/* The size that the library itself states for a type; 0: it has no class of that name. */
static uint64_t stated_size(const mqs_process_info* process, const char* type) {
  char symbol[LONGEST_TYPE + sizeof "_class"];
  char name[LONGEST_TYPE];
  mqs_taddr_t name_at = 0;
  uint64_t size = 0;
  snprintf(symbol, sizeof symbol, "%s_class", type);
  const mqs_taddr_t class = handles_symbol(process, symbol);
  if (class == 0 || !openmpi_class(process, class, &name_at, &size) ||
      !handles_string(process, name_at, name, sizeof name) || strcmp(name, type) != 0)
    return 0;
  return size;
}

/* Whether the type is of the running build: a type of another build is not believed. */
static int is_believed(const mqs_process_info* process, const char* type) {
  const uint64_t stated = stated_size(process, type);
  const int known = handles_size(process, type);
  return known > 0 && (stated == 0 || stated == (uint64_t)known);
}

static void find_offsets(const mqs_process_info* process, struct openmpi* openmpi) {
  const char* type = "";
  int believed = 0;
  for (int i = 0; i < OPENMPI_FIELD_COUNT; ++i) {
    if (strcmp(type, fields[i].type) != 0) {
      type = fields[i].type;
      believed = is_believed(process, type);
    }
    openmpi->offsets[i] = believed ? handles_offset(process, type, fields[i].field) : -1;
  }
}

int openmpi_open(const mqs_process_info* process, void** state) {
  struct openmpi* const openmpi = handles_allocate(sizeof *openmpi);
  if (openmpi == NULL)
    return MPIDBG_ERR_NO_MEM;
  *state = openmpi;
  openmpi->held_code = HELD_NOT_READ;
  openmpi->object_size = handles_size(process, "opal_object_t");
  for (int i = 0; i < OPENMPI_SYMBOL_COUNT; ++i)
    openmpi->symbols[i] = handles_symbol(process, symbols[i]);
  find_offsets(process, openmpi);
  static const enum openmpi_field needed[] = {OBJECT_CLASS,  OBJECT_REFERENCES, ARRAY_SIZE,
                                              ARRAY_ADDRESS, COMM_CONTEXT,      COMM_FLAGS};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; ++i)
    if (openmpi->offsets[needed[i]] < 0)
      return MPIDBG_ERR_UNAVAILABLE;
  const int classes_are_known = stated_size(process, "ompi_communicator_t") != 0;
  return classes_are_known ? MPIDBG_SUCCESS : MPIDBG_ERR_UNAVAILABLE;
}

mqs_taddr_t openmpi_at(const struct openmpi* openmpi, mqs_taddr_t object,
                       enum openmpi_field field) {
  const int offset = openmpi->offsets[field];
  return object != 0 && offset >= 0 ? object + (mqs_taddr_t)offset : 0;
}

int openmpi_int(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
                enum openmpi_field field, int* value) {
  return handles_int(process, openmpi_at(openmpi, object, field), value);
}

int openmpi_word(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
                 enum openmpi_field field, uint64_t* value) {
  const int bytes = fields[field].bytes != 0 ? fields[field].bytes : process->target.address_size;
  return handles_word(process, openmpi_at(openmpi, object, field), bytes, value);
}

int openmpi_check(const mqs_process_info* process, const struct openmpi* openmpi,
                  mqs_taddr_t object, enum openmpi_symbol class) {
  enum { DEEPEST = 16 };
  const mqs_taddr_t wanted = openmpi->symbols[class];
  int references = 0;
  mqs_taddr_t at = 0;
  if (object == 0 || !target_has_address(&process->target, object))
    return MPIDBG_ERR_NOT_FOUND;
  if (wanted == 0 || !openmpi_int(process, openmpi, object, OBJECT_REFERENCES, &references) ||
      !openmpi_word(process, openmpi, object, OBJECT_CLASS, &at))
    return MPIDBG_ERR_UNAVAILABLE;
  if (references <= 0)
    return MPIDBG_ERR_NOT_FOUND;
  for (int depth = 0; depth < DEEPEST && at != 0; ++depth) {
    if (at == wanted)
      return MPIDBG_SUCCESS;
    if (!handles_pointer(process, parent_of_class(process, at), &at))
      return MPIDBG_ERR_UNAVAILABLE;
  }
  return MPIDBG_ERR_NOT_FOUND;
}

int openmpi_check_listed(const mqs_process_info* process, const struct openmpi* openmpi,
                         mqs_taddr_t object, enum openmpi_symbol class, enum openmpi_symbol array) {
  enum { MOST_SEARCHED = 1024 }; /* who asks for each object of a table searches so often */
  struct openmpi_table table = {0};
  const int code = openmpi_check(process, openmpi, object, class);
  if (code != MPIDBG_ERR_UNAVAILABLE || !openmpi_table(process, openmpi, array, &table) ||
      table.slots > MOST_SEARCHED)
    return code;
  for (int slot = 0; slot < table.slots; ++slot) {
    mqs_taddr_t listed = 0;
    if (openmpi_slot(process, &table, slot, &listed) == MPIDBG_ERR_UNAVAILABLE || listed == object)
      return code;
  }
  return MPIDBG_ERR_NOT_FOUND;
}

int openmpi_is(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
               enum openmpi_symbol class) {
  return openmpi_check(process, openmpi, object, class) == MPIDBG_SUCCESS;
}

int openmpi_table(const mqs_process_info* process, const struct openmpi* openmpi,
                  enum openmpi_symbol array, struct openmpi_table* table) {
  const mqs_taddr_t at = openmpi->symbols[array];
  return openmpi_int(process, openmpi, at, ARRAY_SIZE, &table->slots) &&
         openmpi_word(process, openmpi, at, ARRAY_ADDRESS, &table->first) && table->slots >= 0 &&
         table->slots <= HANDLES_LISTED;
}

int openmpi_slot(const mqs_process_info* process, const struct openmpi_table* table, int slot,
                 mqs_taddr_t* object) {
  const mqs_taddr_t word = (mqs_taddr_t)process->target.address_size;
  *object = 0;
  if (slot < 0 || slot >= table->slots)
    return MPIDBG_ERR_NOT_FOUND;
  if (!handles_pointer(process, table->first + (mqs_taddr_t)slot * word, object))
    return MPIDBG_ERR_UNAVAILABLE;
  return *object != 0 ? MPIDBG_SUCCESS : MPIDBG_ERR_NOT_FOUND;
}

int openmpi_find_slot(const mqs_process_info* process, const struct openmpi* openmpi,
                      enum openmpi_symbol array, int slot, mqs_taddr_t* object) {
  struct openmpi_table table = {0};
  if (!openmpi_table(process, openmpi, array, &table))
    return MPIDBG_ERR_UNAVAILABLE;
  return openmpi_slot(process, &table, slot, object);
}

int openmpi_list_table(const mqs_process_info* process, const struct openmpi* openmpi,
                       enum openmpi_symbol array, struct handle_list* list) {
  struct openmpi_table table = {0};
  if (!openmpi_table(process, openmpi, array, &table))
    return MPIDBG_ERR_UNAVAILABLE;
  int code = MPIDBG_SUCCESS;
  for (int slot = 0; slot < table.slots && code == MPIDBG_SUCCESS; ++slot) {
    mqs_taddr_t object = 0;
    code = openmpi_slot(process, &table, slot, &object);
    if (code == MPIDBG_ERR_NOT_FOUND)
      code = MPIDBG_SUCCESS;
    else if (code == MPIDBG_SUCCESS)
      code = handles_list_add(list, object);
  }
  return code;
}
