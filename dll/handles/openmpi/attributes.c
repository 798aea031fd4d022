/* Attributes hang on a communicator in a hash table of opal's. No header declares the table's
 * elements, nor the objects that hold the values. So the data read there has to agree with itself:
 * there are as many elements as the table counts, and each is an object of the class and size of
 * such a value in Open MPI 4.1, with the key under which it was found. */

#include "dll/handles/openmpi/objects.h"

#include <stdio.h>
#include <string.h>

/* Offsets in an element of the table, and in the object that the element points to. */
struct layout {
  uint64_t key, value, size;
};

/* struct { int valid; union { uint32_t; uint64_t; struct { const void*; size_t; } } key; void*
 * value; }, where a uint64_t lies at multiples of `alignment`. */
static struct layout element_layout(int address_size, uint64_t alignment) {
  const uint64_t word = (uint64_t)address_size;
  const uint64_t value = alignment + 2 * word;
  const uint64_t size = value + word;
  return (struct layout){alignment, value, (size + alignment - 1) / alignment * alignment};
}

/* struct { opal_object_t super; int key; void* value; int set_from; int sequence; } */
struct attribute {
  mqs_taddr_t at;    /* address of the value */
  mqs_taddr_t value; /* an address if C has set it, else an integer */
  int key, set_from;
};
enum set_from { FROM_C, FROM_INT, FROM_FORTRAN_INTEGER, FROM_FORTRAN_ADDRESS, SET_FROM_COUNT };

static int holds_int(const struct attribute* attribute) {
  return attribute->set_from == FROM_INT || attribute->set_from == FROM_FORTRAN_INTEGER;
}

static int is_attribute(const mqs_process_info* process, const struct openmpi* openmpi,
                        mqs_taddr_t object) {
  static const char class_name[] = "attribute_key_value_t";
  char name[sizeof class_name];
  const mqs_taddr_t word = (mqs_taddr_t)process->target.address_size;
  const uint64_t expected = (uint64_t)openmpi->object_size + 2 * word + 2 * sizeof(int32_t);
  mqs_taddr_t class = 0;
  mqs_taddr_t at = 0;
  uint64_t size = 0;
  return openmpi_word(process, openmpi, object, OBJECT_CLASS, &class) &&
         openmpi_class(process, class, &at, &size) && size == expected &&
         handles_string(process, at, name, sizeof name) && strcmp(name, class_name) == 0;
}

static int read_attribute(const mqs_process_info* process, const struct openmpi* openmpi,
                          mqs_taddr_t object, struct attribute* attribute) {
  const mqs_taddr_t word = (mqs_taddr_t)process->target.address_size;
  const mqs_taddr_t key = object + (mqs_taddr_t)openmpi->object_size;
  attribute->at = key + word; /* behind an int, and padding if an address is longer */
  return is_attribute(process, openmpi, object) && handles_int(process, key, &attribute->key) &&
         handles_pointer(process, attribute->at, &attribute->value) &&
         handles_int(process, attribute->at + word, &attribute->set_from) &&
         attribute->set_from >= 0 && attribute->set_from < SET_FROM_COUNT;
}

/* The values of predefined attributes are ints. A value that C has set, or that was copied from
 * another communicator, is the address of its own storage; an int that the MPI or Fortran has set
 * lies where the address would begin. */
static char* text_of(const mqs_process_info* process, const struct attribute* attribute,
                     int predefined) {
  char text[24];
  int value = 0;
  if (!predefined && !holds_int(attribute)) {
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)attribute->value);
    return handles_text(text);
  }
  if (!handles_int(process, holds_int(attribute) ? attribute->at : attribute->value, &value))
    return NULL;
  if (predefined)
    snprintf(text, sizeof text, "%d", value);
  else
    snprintf(text, sizeof text, "0x%x", (unsigned)value);
  return handles_text(text);
}

/* Since release 5: whether it was started to survive the death of ranks. Before it was the key of
 * another of its own, which nothing ever sets. */
#define KEY_FT 12

static int describe(const mqs_process_info* process, const struct attribute* attribute,
                    struct mpidbg_attribute_pair_t* pair) {
  /* These have the order of mpi.h; attributes of windows follow there. */
  static char* const predefined[] = {"MPI_TAG_UB",          "MPI_HOST",   "MPI_IO",
                                     "MPI_WTIME_IS_GLOBAL", "MPI_APPNUM", "MPI_LASTUSEDCODE",
                                     "MPI_UNIVERSE_SIZE"};
  const int count = (int)(sizeof predefined / sizeof *predefined);
  pair->keyval = attribute->key;
  if (attribute->key >= 0 && attribute->key < count)
    pair->keyval_name = predefined[attribute->key];
  else if (attribute->key == KEY_FT && holds_int(attribute))
    pair->keyval_name = "MPI_FT";
  pair->value = text_of(process, attribute, pair->keyval_name != NULL);
  return pair->value != NULL;
}

/* Adds the attribute of an element. 1: it was added. 0: the element is empty. -1: it is no element.
 */
static int add_element(const mqs_process_info* process, const struct openmpi* openmpi,
                       mqs_taddr_t element, const struct layout* layout,
                       struct mpidbg_attribute_pair_t* pair) {
  struct attribute attribute = {0};
  int valid = 0;
  int key = 0;
  mqs_taddr_t object = 0;
  if (!handles_int(process, element, &valid) || (valid != 0 && valid != 1))
    return -1;
  if (valid == 0)
    return 0;
  const int found = handles_int(process, element + layout->key, &key) &&
                    handles_pointer(process, element + layout->value, &object) &&
                    read_attribute(process, openmpi, object, &attribute) && attribute.key == key &&
                    describe(process, &attribute, pair);
  return found ? 1 : -1;
}

struct table {
  mqs_taddr_t first;
  uint64_t capacity, size;
};

static struct mpidbg_attribute_pair_t* read_elements(const mqs_process_info* process,
                                                     const struct openmpi* openmpi,
                                                     const struct table* table,
                                                     const struct layout* layout) {
  struct mpidbg_attribute_pair_t* const pairs = handles_array(table->size, sizeof *pairs);
  uint64_t count = 0;
  for (uint64_t i = 0; i < table->capacity && pairs != NULL; ++i) {
    struct mpidbg_attribute_pair_t pair = {0};
    const mqs_taddr_t element = table->first + i * layout->size;
    const int added = add_element(process, openmpi, element, layout, &pair);
    if (added < 0 || count + (uint64_t)added > table->size) {
      count = table->size + 1;
      break;
    }
    if (added > 0)
      pairs[count++] = pair;
  }
  if (count == table->size)
    return pairs;
  handles_host->mqs_free_fp(pairs);
  return NULL;
}

void openmpi_attributes(const mqs_process_info* process, const struct openmpi* openmpi,
                        struct comm_answer* answer) {
  enum { MOST = 1 << 16 };
  struct table table = {0};
  mqs_taddr_t hash = 0;
  if (!openmpi_word(process, openmpi, answer->info.comm_c_handle, COMM_ATTRIBUTES, &hash))
    return;
  if (hash != 0 && (!openmpi_word(process, openmpi, hash, HASH_TABLE, &table.first) ||
                    !openmpi_word(process, openmpi, hash, HASH_CAPACITY, &table.capacity) ||
                    !openmpi_word(process, openmpi, hash, HASH_SIZE, &table.size) ||
                    table.capacity > MOST || table.size > table.capacity))
    return;
  struct mpidbg_attribute_pair_t* pairs = NULL;
  /* An address of 8 bytes leaves no choice. */
  const uint64_t least = process->target.address_size == 8 ? 8 : 4;
  for (uint64_t alignment = 8; alignment >= least && pairs == NULL; alignment -= 4) {
    const struct layout layout = element_layout(process->target.address_size, alignment);
    pairs = read_elements(process, openmpi, &table, &layout);
  }
  if (pairs == NULL)
    return;
  answer->info.comm_num_attrs = (int)table.size;
  answer->info.comm_attrs = pairs;
  answer->more.known |= MPIDBG_KNOWN_ATTRIBUTES;
}
