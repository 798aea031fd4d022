/* MPIR_Topology (src/include/mpir_topo.h), which no debug information describes. Its values have to
 * fit its communicator; otherwise the topology is not known. */

#include "dll/handles/mpich/layout.h"

enum { GRAPH = 1, CARTESIAN = 2, DIST_GRAPH = 3, MOST_DIMS = 64, MOST_EDGES = 1 << 22 };

/* A place among the members of a topology, each of which is an int or an address. */
struct cursor {
  const mqs_process_info* process;
  mqs_taddr_t at;
  int failed;
};

static int next_int(struct cursor* cursor) {
  int value = 0;
  cursor->failed |= !handles_int(cursor->process, cursor->at, &value);
  cursor->at += sizeof(int32_t);
  return value;
}

static mqs_taddr_t next_address(struct cursor* cursor) {
  const unsigned word = (unsigned)cursor->process->target.address_size;
  mqs_taddr_t value = 0;
  cursor->at = (cursor->at + word - 1) / word * word;
  cursor->failed |= !handles_pointer(cursor->process, cursor->at, &value);
  cursor->at += word;
  return value;
}

/* The int[count] at the address that the next member holds. */
static int* next_ints(struct cursor* cursor, int count, int most) {
  const mqs_taddr_t array = next_address(cursor);
  int* const values = cursor->failed || count < 0 || count > most
                          ? NULL
                          : handles_ints(cursor->process, count > 0 ? array : 0, count);
  cursor->failed |= values == NULL;
  return values;
}

static int add_cartesian(struct cursor* cursor, struct mpidbg_comm_info_t* info) {
  const int nodes = next_int(cursor);
  const int count = next_int(cursor);
  info->comm_cart_dims = next_ints(cursor, count, MOST_DIMS);
  int* const periods = next_ints(cursor, count, MOST_DIMS);
  info->comm_cart_periods = handles_array((size_t)MOST_DIMS, sizeof *info->comm_cart_periods);
  long long product = 1;
  const int read = !cursor->failed && info->comm_cart_periods != NULL;
  for (int i = 0; read && i < count && product <= nodes; ++i) {
    product *= info->comm_cart_dims[i];
    info->comm_cart_periods[i] = periods[i] != 0;
  }
  if (periods != NULL)
    handles_host->mqs_free_fp(periods);
  info->comm_cart_num_dims = count;
  info->comm_bitflags |= MPIDBG_COMM_INFO_CARTESIAN;
  return read && product == nodes && nodes == info->comm_size;
}

static int add_graph(struct cursor* cursor, struct mpidbg_comm_info_t* info) {
  const int nodes = next_int(cursor);
  const int edges = next_int(cursor);
  info->comm_graph_index = next_ints(cursor, nodes, MOST_EDGES);
  info->comm_graph_edges = next_ints(cursor, edges, MOST_EDGES);
  info->comm_graph_num_nodes = nodes;
  info->comm_bitflags |= MPIDBG_COMM_INFO_GRAPH;
  return !cursor->failed && nodes == info->comm_size && nodes > 0 &&
         info->comm_graph_index[nodes - 1] == edges;
}

static int add_neighbors(struct cursor* cursor, int size, struct mpidbg_comm_description* more) {
  const mqs_taddr_t start = cursor->at;
  const unsigned word = (unsigned)cursor->process->target.address_size;
  struct cursor weighted = {cursor->process, start + 6 * word, 0};
  more->weighted = next_int(&weighted) != 0; /* behind two ints and four addresses */
  more->num_sources = next_int(cursor);
  more->sources = next_ints(cursor, more->num_sources, MOST_EDGES);
  more->source_weights = next_ints(cursor, more->weighted ? more->num_sources : 0, MOST_EDGES);
  more->num_destinations = next_int(cursor);
  more->destinations = next_ints(cursor, more->num_destinations, MOST_EDGES);
  more->destination_weights =
      next_ints(cursor, more->weighted ? more->num_destinations : 0, MOST_EDGES);
  if (cursor->failed || weighted.failed)
    return 0;
  if (!more->weighted) {
    handles_host->mqs_free_fp(more->source_weights);
    handles_host->mqs_free_fp(more->destination_weights);
    more->source_weights = more->destination_weights = NULL;
  }
  for (int i = 0; i < more->num_sources; ++i)
    if (more->sources[i] < 0 || more->sources[i] >= size)
      return 0;
  for (int i = 0; i < more->num_destinations; ++i)
    if (more->destinations[i] < 0 || more->destinations[i] >= size)
      return 0;
  return 1;
}

void mpich_topology(const mqs_process_info* process, mqs_taddr_t topology,
                    struct comm_answer* answer) {
  struct cursor cursor = {process, topology, 0};
  struct mpidbg_comm_info_t* const info = &answer->info;
  const unsigned before = (unsigned)info->comm_bitflags;
  const int kind = next_int(&cursor);
  const unsigned word = (unsigned)process->target.address_size;
  cursor.at = (cursor.at + word - 1) / word * word; /* a union follows that has addresses */
  int fits = 0;
  if (kind == CARTESIAN) {
    fits = add_cartesian(&cursor, info);
  } else if (kind == GRAPH) {
    fits = add_graph(&cursor, info);
  } else if (kind == DIST_GRAPH) {
    fits = add_neighbors(&cursor, info->comm_size, &answer->more);
    info->comm_bitflags |= MPIDBG_COMM_INFO_DIST_GRAPH;
    answer->more.known |= fits ? MPIDBG_KNOWN_NEIGHBORS : 0;
  }
  if (fits)
    return;
  info->comm_bitflags = (enum mpidbg_comm_info_bitmap_t)before;
  answer->more.known &= ~(unsigned)MPIDBG_KNOWN_TOPOLOGY;
}
