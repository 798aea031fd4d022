/* Attributes of communicators. MPICH keeps topologies among them. It keeps the attributes that MPI
 * predefines once for all communicators. */

#include "dll/handles/mpich/layout.h"

#include <limits.h>
#include <stdio.h>

enum { MOST_ATTRIBUTES = 65536 };
/* MPICH asks the launcher for the universe size when the program asks MPICH: until then the value
 * is not known. */
enum { UNIVERSE_SIZE = 0x64400009, NOT_ASKED = -1 };

struct attribute {
  mqs_taddr_t keyval; /* as the program knows it */
  mqs_taddr_t value;
};

/* Reads an attribute. 1: it was read, and there is one. */
static int read_attribute(const mqs_process_info* process, const struct mpich* mpich,
                          mqs_taddr_t at, struct attribute* attribute) {
  mqs_taddr_t keyval = 0;
  if (!mpich_word(process, mpich, at, ATTRIBUTE_KEYVAL, &keyval) ||
      !mpich_word(process, mpich, at, ATTRIBUTE_VALUE, &attribute->value))
    return 0;
  attribute->keyval = mpich_handle(process, keyval);
  return attribute->keyval != 0;
}

/* The address of PreDefined_attrs: it stands in MPIR_Process behind the addresses of
 * MPI_COMM_WORLD, of MPI_COMM_SELF, and of two more communicators (src/include/mpir_process.h). 0:
 * not found. */
static mqs_taddr_t find_predefined(const mqs_process_info* process, const struct mpich* mpich) {
  enum { SEARCHED = 32, BEFORE = 4 };
  const unsigned word = (unsigned)process->target.address_size;
  const mqs_taddr_t start = handles_symbol(process, "MPIR_Process");
  mqs_taddr_t last = 0;
  for (unsigned i = 0; start != 0 && i < SEARCHED; ++i) {
    mqs_taddr_t found = 0;
    if (!handles_pointer(process, start + i * word, &found))
      return 0;
    if (last == mpich->comms.builtin && found == last + (unsigned)mpich->comms.object_size)
      return start + (i + BEFORE - 1) * word;
    last = found;
  }
  return 0;
}

/* The attributes in the order of PreDefined_attrs. A value below `least` is not set. */
static const struct {
  const char* name;
  int keyval, least;
} predefined[] = {{"MPI_APPNUM", 0x6440000d, 0},
                  {"MPI_HOST", 0x64400003, INT_MIN},
                  {"MPI_IO", 0x64400005, INT_MIN},
                  {"MPI_LASTUSEDCODE", 0x6440000b, INT_MIN},
                  {"MPI_TAG_UB", 0x64400001, INT_MIN},
                  {"MPI_UNIVERSE_SIZE", UNIVERSE_SIZE, NOT_ASKED},
                  {"MPI_WTIME_IS_GLOBAL", 0x64400007, INT_MIN}};
enum { PREDEFINED = (int)(sizeof predefined / sizeof *predefined) };

/* Returns the number of added attributes; -1: they are not known. */
static int add_predefined(const mqs_process_info* process, const struct mpich* mpich,
                          struct mpidbg_attribute_pair_t* pairs) {
  int* const values = handles_ints(process, find_predefined(process, mpich), PREDEFINED);
  int count = values != NULL ? 0 : -1;
  for (int i = 0; values != NULL && i < PREDEFINED; ++i) {
    char text[16] = "";
    if (values[i] < predefined[i].least)
      continue;
    if (predefined[i].keyval != UNIVERSE_SIZE || values[i] != NOT_ASKED)
      snprintf(text, sizeof text, "%d", values[i]);
    pairs[count].keyval = predefined[i].keyval;
    pairs[count].keyval_name = handles_text(predefined[i].name);
    pairs[count++].value = handles_text(text);
  }
  if (values != NULL)
    handles_host->mqs_free_fp(values);
  return count;
}

/* The number of the communicator's attributes; -1: its list has no end. */
static int count_attributes(const mqs_process_info* process, const struct mpich* mpich,
                            mqs_taddr_t first) {
  int count = 0;
  for (mqs_taddr_t at = first; at != 0; ++count)
    if (count == MOST_ATTRIBUTES || !mpich_word(process, mpich, at, ATTRIBUTE_NEXT, &at))
      return -1;
  return count;
}

static int add_own(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t first,
                   mqs_taddr_t topology_keyval, struct comm_answer* answer) {
  struct mpidbg_comm_info_t* const info = &answer->info;
  for (mqs_taddr_t at = first; at != 0;) {
    struct attribute attribute = {0, 0};
    char text[24];
    if (!read_attribute(process, mpich, at, &attribute) ||
        !mpich_word(process, mpich, at, ATTRIBUTE_NEXT, &at))
      return 0;
    if (attribute.keyval == topology_keyval) {
      mpich_topology(process, attribute.value, answer);
      continue;
    }
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)attribute.value);
    struct mpidbg_attribute_pair_t* const pair = &info->comm_attrs[info->comm_num_attrs++];
    pair->keyval = (int)(uint32_t)attribute.keyval;
    pair->value = handles_text(text);
  }
  return 1;
}

void mpich_attributes(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t comm,
                      struct comm_answer* answer) {
  struct mpidbg_comm_info_t* const info = &answer->info;
  const mqs_taddr_t keyval_of = handles_symbol(process, "MPIR_Topology_keyval");
  const mqs_taddr_t topology_keyval = mpich_handle(process, keyval_of);
  mqs_taddr_t first = 0;
  if (topology_keyval == 0 || !mpich_word(process, mpich, comm, COMM_ATTRIBUTES, &first))
    return;
  const int count = count_attributes(process, mpich, first);
  if (count < 0)
    return;
  info->comm_attrs = handles_array((size_t)(count + PREDEFINED), sizeof *info->comm_attrs);
  if (info->comm_attrs == NULL)
    return;
  const int before = add_predefined(process, mpich, info->comm_attrs);
  info->comm_num_attrs = before > 0 ? before : 0;
  answer->more.known |= MPIDBG_KNOWN_TOPOLOGY; /* there is none, unless one is found */
  if (!add_own(process, mpich, first, topology_keyval, answer))
    answer->more.known &= ~(unsigned)MPIDBG_KNOWN_TOPOLOGY;
  else if (before >= 0)
    answer->more.known |= MPIDBG_KNOWN_ATTRIBUTES;
  if ((answer->more.known & MPIDBG_KNOWN_ATTRIBUTES) == 0) {
    handles_host->mqs_free_fp(info->comm_attrs);
    info->comm_attrs = NULL;
    info->comm_num_attrs = 0;
  }
}
