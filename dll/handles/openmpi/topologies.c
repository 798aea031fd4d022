/* Cartesian, graph and distributed graph topologies. */

#include "dll/handles/openmpi/objects.h"

static int* ints_at(const mqs_process_info* process, const struct openmpi* openmpi,
                    mqs_taddr_t object, enum openmpi_field field, int count) {
  mqs_taddr_t at = 0;
  if (count < 0 || count > HANDLES_LISTED || !openmpi_word(process, openmpi, object, field, &at))
    return NULL;
  return handles_ints(process, at, count);
}

static int cart(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
                struct mpidbg_comm_info_t* info) {
  int count = 0;
  if (!openmpi_int(process, openmpi, object, CART_NUM_DIMS, &count))
    return 0;
  int* const periods = ints_at(process, openmpi, object, CART_PERIODS, count);
  info->comm_cart_dims = ints_at(process, openmpi, object, CART_DIMS, count);
  if (periods == NULL || info->comm_cart_dims == NULL)
    return 0;
  info->comm_cart_periods = handles_array((size_t)count, sizeof *info->comm_cart_periods);
  if (info->comm_cart_periods == NULL)
    return 0;
  for (int i = 0; i < count; ++i)
    info->comm_cart_periods[i] = periods[i] != 0;
  handles_host->mqs_free_fp(periods);
  info->comm_cart_num_dims = count;
  return 1;
}

static int graph(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
                 struct mpidbg_comm_info_t* info) {
  int count = 0;
  if (!openmpi_int(process, openmpi, object, GRAPH_NUM_NODES, &count))
    return 0;
  info->comm_graph_index = ints_at(process, openmpi, object, GRAPH_INDEX, count);
  if (info->comm_graph_index == NULL)
    return 0;
  const int edges = count > 0 ? info->comm_graph_index[count - 1] : 0;
  info->comm_graph_edges = ints_at(process, openmpi, object, GRAPH_EDGES, edges);
  info->comm_graph_num_nodes = count;
  return info->comm_graph_edges != NULL;
}

static int neighbors(const mqs_process_info* process, const struct openmpi* openmpi,
                     mqs_taddr_t object, struct mpidbg_comm_description* more) {
  uint64_t weighted = 0;
  if (!openmpi_int(process, openmpi, object, NEIGHBORS_NUM_IN, &more->num_sources) ||
      !openmpi_int(process, openmpi, object, NEIGHBORS_NUM_OUT, &more->num_destinations) ||
      !openmpi_word(process, openmpi, object, NEIGHBORS_WEIGHTED, &weighted))
    return 0;
  more->weighted = weighted != 0;
  more->sources = ints_at(process, openmpi, object, NEIGHBORS_IN, more->num_sources);
  more->destinations = ints_at(process, openmpi, object, NEIGHBORS_OUT, more->num_destinations);
  if (more->sources == NULL || more->destinations == NULL)
    return 0;
  if (weighted == 0)
    return 1;
  more->source_weights = ints_at(process, openmpi, object, NEIGHBORS_IN_WEIGHTS, more->num_sources);
  more->destination_weights =
      ints_at(process, openmpi, object, NEIGHBORS_OUT_WEIGHTS, more->num_destinations);
  return more->source_weights != NULL && more->destination_weights != NULL;
}

/* The address of an empty array may be NULL: nothing is read there. */
static int read_topology(const mqs_process_info* process, const struct openmpi* openmpi, int flags,
                         mqs_taddr_t object, struct comm_answer* answer) {
  switch (flags & (OPENMPI_CART | OPENMPI_GRAPH | OPENMPI_DIST_GRAPH)) {
  case OPENMPI_CART:
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_CARTESIAN;
    return cart(process, openmpi, object, &answer->info);
  case OPENMPI_GRAPH:
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_GRAPH;
    return graph(process, openmpi, object, &answer->info);
  case OPENMPI_DIST_GRAPH:
    answer->info.comm_bitflags |= MPIDBG_COMM_INFO_DIST_GRAPH;
    answer->more.known |= MPIDBG_KNOWN_NEIGHBORS;
    return neighbors(process, openmpi, object, &answer->more);
  default:
    return 0;
  }
}

void openmpi_topology(const mqs_process_info* process, const struct openmpi* openmpi, int flags,
                      struct comm_answer* answer) {
  mqs_taddr_t module = 0;
  mqs_taddr_t object = 0;
  uint64_t reordered = 0;
  if ((flags & (OPENMPI_CART | OPENMPI_GRAPH | OPENMPI_DIST_GRAPH)) == 0) {
    answer->more.known |= MPIDBG_KNOWN_TOPOLOGY;
    return;
  }
  struct comm_answer with = *answer;
  if (!openmpi_word(process, openmpi, answer->info.comm_c_handle, COMM_TOPOLOGY, &module) ||
      !openmpi_word(process, openmpi, module, TOPOLOGY_MODULE, &object) ||
      !openmpi_word(process, openmpi, module, TOPOLOGY_REORDERED, &reordered) ||
      !read_topology(process, openmpi, flags, object, &with))
    return;
  if (reordered != 0)
    with.info.comm_bitflags |= MPIDBG_COMM_INFO_TOPO_REORDERED;
  with.more.known |= MPIDBG_KNOWN_TOPOLOGY | MPIDBG_KNOWN_REORDERED;
  *answer = with;
}
