/* The tables of a communicator: its topology, and its attributes. */

#include "dll/handles/recorder/recording.h"

#include <stdio.h>
#include <string.h>

enum { most_numbers = 1 << 24 }; /* of a topology */

struct table {
  uint32_t kind, flags;
  int first, second;
  mqs_taddr_t numbers;
};

static int* numbers_at(const mqs_process_info* process, const struct table* table, int from,
                       int count) {
  return handles_ints(process, table->numbers + (mqs_taddr_t)from * sizeof(int32_t), count);
}

static int add_cartesian(const mqs_process_info* process, const struct table* table,
                         struct mpidbg_comm_info_t* info) {
  int* const periods = numbers_at(process, table, table->first, table->first);
  info->comm_cart_num_dims = table->first;
  info->comm_cart_dims = numbers_at(process, table, 0, table->first);
  info->comm_cart_periods = handles_array((size_t)table->first, 1);
  if (periods == NULL || info->comm_cart_dims == NULL || info->comm_cart_periods == NULL)
    return 0;
  for (int i = 0; i < table->first; ++i)
    info->comm_cart_periods[i] = periods[i] != 0;
  handles_host->mqs_free_fp(periods);
  return 1;
}

static int add_graph(const mqs_process_info* process, const struct table* table,
                     struct mpidbg_comm_info_t* info) {
  info->comm_graph_num_nodes = table->first;
  info->comm_graph_index = numbers_at(process, table, 0, table->first);
  info->comm_graph_edges = numbers_at(process, table, table->first, table->second);
  const int last = info->comm_graph_index != NULL && table->first > 0
                       ? info->comm_graph_index[table->first - 1]
                       : 0;
  return info->comm_graph_index != NULL && info->comm_graph_edges != NULL && last == table->second;
}

static int add_neighbors(const mqs_process_info* process, const struct table* table,
                         struct mpidbg_comm_description* more) {
  const int all = table->first + table->second;
  more->weighted = (table->flags & MQR_WEIGHTED) != 0;
  more->num_sources = table->first;
  more->num_destinations = table->second;
  more->sources = numbers_at(process, table, 0, table->first);
  more->destinations = numbers_at(process, table, table->first, table->second);
  if (more->weighted) {
    more->source_weights = numbers_at(process, table, all, table->first);
    more->destination_weights = numbers_at(process, table, all + table->first, table->second);
  }
  if (more->sources == NULL || more->destinations == NULL ||
      (more->weighted && (more->source_weights == NULL || more->destination_weights == NULL)))
    return 0;
  more->known |= MPIDBG_KNOWN_NEIGHBORS;
  return 1;
}

int recorder_topology(const mqs_process_info* process, mqs_taddr_t address,
                      struct comm_answer* answer) {
  unsigned char bytes[sizeof(struct mqr_topology)];
  if (!handles_fetch(process, address, sizeof bytes, bytes) ||
      RECORDED(target_u32, bytes, mqr_topology, magic) != MQR_MAGIC_TOPOLOGY)
    return 0;
  const struct table table = {RECORDED(target_u32, bytes, mqr_topology, kind),
                              RECORDED(target_u32, bytes, mqr_topology, flags),
                              RECORDED(target_i32, bytes, mqr_topology, first),
                              RECORDED(target_i32, bytes, mqr_topology, second),
                              address + sizeof bytes};
  if (table.first < 0 || table.first > most_numbers || table.second < 0 ||
      table.second > most_numbers)
    return 0;
  int bits = (table.flags & MQR_REORDER) != 0 ? MPIDBG_COMM_INFO_TOPO_REORDERED : 0;
  int known = 0;
  switch (table.kind) {
  case MQR_CARTESIAN:
    bits |= MPIDBG_COMM_INFO_CARTESIAN;
    known = add_cartesian(process, &table, &answer->info);
    break;
  case MQR_GRAPH:
    bits |= MPIDBG_COMM_INFO_GRAPH;
    known = add_graph(process, &table, &answer->info);
    break;
  case MQR_DIST_GRAPH:
    bits |= MPIDBG_COMM_INFO_DIST_GRAPH;
    known = add_neighbors(process, &table, &answer->more);
    break;
  default:
    return 0;
  }
  if (known)
    answer->info.comm_bitflags |= (enum mpidbg_comm_info_bitmap_t)bits;
  if (known && (table.flags & MQR_KNOWN_REORDER) != 0)
    answer->more.known |= MPIDBG_KNOWN_REORDERED;
  return known;
}

static int add_attribute(const mqs_process_info* process, const unsigned char* bytes,
                         struct mpidbg_attribute_pair_t* pair) {
  static char* const names[] = {NULL,         "MPI_TAG_UB",          "MPI_HOST",
                                "MPI_IO",     "MPI_WTIME_IS_GLOBAL", "MPI_UNIVERSE_SIZE",
                                "MPI_APPNUM", "MPI_LASTUSEDCODE"};
  const uint32_t predefined = RECORDED(target_u32, bytes, mqr_attribute, predefined);
  const uint64_t value = RECORDED(target_u64, bytes, mqr_attribute, value);
  char text[32];
  if (predefined >= sizeof names / sizeof *names)
    return 0;
  if (predefined != MQR_OWN_KEYVAL)
    snprintf(text, sizeof text, "%lld", (long long)value);
  else
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  pair->keyval = RECORDED(target_i32, bytes, mqr_attribute, keyval);
  pair->keyval_name = names[predefined];
  pair->value = handles_text(text);
  return pair->value != NULL;
}

int recorder_attributes(const mqs_process_info* process, mqs_taddr_t address,
                        struct mpidbg_comm_info_t* info) {
  unsigned char bytes[sizeof(struct mqr_attributes)] = {0};
  uint32_t count = 0;
  if (address != 0) {
    if (!handles_fetch(process, address, sizeof bytes, bytes) ||
        RECORDED(target_u32, bytes, mqr_attributes, magic) != MQR_MAGIC_ATTRIBUTES)
      return 0;
    count = RECORDED(target_u32, bytes, mqr_attributes, count);
  }
  if (count > MQR_MAX_ATTRIBUTES)
    return 0;
  struct mpidbg_attribute_pair_t* const pairs = handles_array(count, sizeof *pairs);
  for (uint32_t i = 0; pairs != NULL && i < count; ++i) {
    unsigned char entry[sizeof(struct mqr_attribute)];
    if (!handles_fetch(process, address + sizeof bytes + i * sizeof entry, sizeof entry, entry) ||
        !add_attribute(process, entry, &pairs[i]))
      return 0;
  }
  info->comm_num_attrs = (int)count;
  info->comm_attrs = pairs;
  return pairs != NULL;
}
