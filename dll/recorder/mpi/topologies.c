/* A communicator's topology, as MPI tells it. */

#include "dll/recorder/mpi/handles.h"

#include <stdlib.h>

enum { most = 1 << 24 }; /* numbers of one topology */

/* Makes a topology with room for numbers behind it. NULL: there is no memory, or MPI gave
 * impossible numbers. */
static struct mqr_topology* new_topology(enum mqr_topology_kind kind, int first, int second,
                                         size_t numbers) {
  if (first < 0 || second < 0 || numbers > most)
    return NULL;
  struct mqr_topology* const made = calloc(1, sizeof *made + numbers * sizeof(int32_t));
  if (made != NULL)
    *made = (struct mqr_topology){.magic = MQR_MAGIC_TOPOLOGY,
                                  .kind = kind,
                                  .first = (uint32_t)first,
                                  .second = (uint32_t)second};
  return made;
}

static int* numbers_of(struct mqr_topology* topology) {
  return (int*)(void*)(topology + 1);
}

static struct mqr_topology* if_asked(struct mqr_topology* made, int result) {
  if (result == MPI_SUCCESS)
    return made;
  free(made);
  return NULL;
}

static struct mqr_topology* cartesian(MPI_Comm handle) {
  int count = 0;
  if (mqr_mpi.Cartdim_get(handle, &count) != MPI_SUCCESS || count < 0)
    return NULL;
  int* const coordinates = malloc(((size_t)count + 1) * sizeof *coordinates);
  struct mqr_topology* made =
      coordinates != NULL ? new_topology(MQR_CARTESIAN, count, 0, 2 * (size_t)count) : NULL;
  if (made != NULL)
    made = if_asked(made, mqr_mpi.Cart_get(handle, count, numbers_of(made),
                                           numbers_of(made) + count, coordinates));
  free(coordinates);
  return made;
}

static struct mqr_topology* graph(MPI_Comm handle) {
  int nodes = 0;
  int edges = 0;
  if (mqr_mpi.Graphdims_get(handle, &nodes, &edges) != MPI_SUCCESS)
    return NULL;
  struct mqr_topology* const made =
      new_topology(MQR_GRAPH, nodes, edges, (size_t)nodes + (size_t)edges);
  return made == NULL ? NULL
                      : if_asked(made, mqr_mpi.Graph_get(handle, nodes, edges, numbers_of(made),
                                                         numbers_of(made) + nodes));
}

static struct mqr_topology* distributed(MPI_Comm handle) {
  int sources = 0;
  int destinations = 0;
  int weighted = 0;
  if (mqr_mpi.Dist_graph_neighbors_count(handle, &sources, &destinations, &weighted) != MPI_SUCCESS)
    return NULL;
  const size_t neighbors = (size_t)sources + (size_t)destinations;
  struct mqr_topology* const made =
      new_topology(MQR_DIST_GRAPH, sources, destinations, 2 * neighbors);
  if (made == NULL)
    return NULL;
  made->flags = weighted ? MQR_WEIGHTED : 0;
  int* const ranks = numbers_of(made);
  int* const weights = ranks + neighbors;
  return if_asked(made, mqr_mpi.Dist_graph_neighbors(handle, sources, ranks, weights, destinations,
                                                     ranks + sources, weights + sources));
}

void mqr_learn_topology(MPI_Comm handle, struct mqr_recorded_communicator* recorded,
                        enum mqr_reordering reordering) {
  int kind = MPI_UNDEFINED;
  struct mqr_topology* made = NULL;
  if (mqr_mpi.Topo_test(handle, &kind) != MPI_SUCCESS)
    return;
  if (kind == MPI_CART)
    made = cartesian(handle);
  else if (kind == MPI_GRAPH)
    made = graph(handle);
  else if (kind == MPI_DIST_GRAPH)
    made = distributed(handle);
  if (made == NULL && kind != MPI_UNDEFINED)
    return; /* the topology is not known */
  if (made != NULL && reordering != MQR_REORDERING_UNKNOWN)
    made->flags |= MQR_KNOWN_REORDER | (reordering == MQR_REORDERED ? MQR_REORDER : 0U);
  mqr_communicator_set_topology(recorded, made);
}
