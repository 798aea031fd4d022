// Makes handles of all kinds and says what they are, in DIRECTORY/handles.RANK: a line "KIND HANDLE
// KEY VALUE" for each fact, from MPI's own inquiries and from what it asked for, never from inside
// the MPI. Everything is sent to the process itself, so that one rank is enough; what takes two is
// only made where there are two.
//   handles DIRECTORY [signal]
// With `signal` it raises SIGUSR1 when it is ready, so that a stub that started it holds it there.

#include "tests/inferiors/handle_facts.h"
#include "tests/inferiors/job_files.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int self, ranks;
static MPI_Group world_group;

static const char* list(const int* numbers, int count) {
  static char text[512];
  int length = 0;
  text[0] = '\0';
  for (int i = 0; i < count; ++i)
    length +=
        snprintf(text + length, sizeof text - (size_t)length, "%s%d", i > 0 ? "," : "", numbers[i]);
  return text;
}

static void group_fact(MPI_Comm comm, const char* key, MPI_Group group) {
  int size = 0;
  MPI_Group_size(group, &size);
  int* const locals = calloc((size_t)size, sizeof *locals);
  int* const globals = calloc((size_t)size, sizeof *globals);
  for (int i = 0; i < size; ++i)
    locals[i] = i;
  MPI_Group_translate_ranks(group, size, locals, world_group, globals);
  fact("comm", HANDLE(comm), key, "%s", list(globals, size));
  free(locals);
  free(globals);
  MPI_Group_free(&group);
}

static void graph_facts(MPI_Comm comm) {
  int nodes = 0;
  int edges = 0;
  int index[64];
  int targets[64];
  MPI_Graphdims_get(comm, &nodes, &edges);
  MPI_Graph_get(comm, 64, 64, index, targets);
  fact("comm", HANDLE(comm), "index", "%s", list(index, nodes));
  fact("comm", HANDLE(comm), "edges", "%s", list(targets, edges));
}

/// So that no compiler takes the constant for an array.
static int* unweighted(void) {
  int* volatile const none = MPI_UNWEIGHTED;
  return none;
}

static void neighbor_facts(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  int sources[64];
  int source_weights[64];
  int targets[64];
  int target_weights[64];
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  if (weighted)
    MPI_Dist_graph_neighbors(comm, 64, sources, source_weights, 64, targets, target_weights);
  else
    MPI_Dist_graph_neighbors(comm, 64, sources, unweighted(), 64, targets, unweighted());
  fact("comm", HANDLE(comm), "sources", "%s", list(sources, in));
  fact("comm", HANDLE(comm), "destinations", "%s", list(targets, out));
  fact("comm", HANDLE(comm), "source_weights", "%s", weighted ? list(source_weights, in) : "none");
  fact("comm", HANDLE(comm), "destination_weights", "%s",
       weighted ? list(target_weights, out) : "none");
}

static void topology_facts(MPI_Comm comm) {
  int kind = 0;
  int count = 0;
  int dims[8];
  int periods[8];
  int coordinates[8];
  MPI_Topo_test(comm, &kind);
  fact("comm", HANDLE(comm), "topology", "%s",
       kind == MPI_CART         ? "cartesian"
       : kind == MPI_GRAPH      ? "graph"
       : kind == MPI_DIST_GRAPH ? "dist_graph"
                                : "none");
  if (kind == MPI_CART) {
    MPI_Cartdim_get(comm, &count);
    MPI_Cart_get(comm, 8, dims, periods, coordinates);
    fact("comm", HANDLE(comm), "dims", "%s", list(dims, count));
    fact("comm", HANDLE(comm), "periods", "%s", list(periods, count));
  } else if (kind == MPI_GRAPH) {
    graph_facts(comm);
  } else if (kind == MPI_DIST_GRAPH) {
    neighbor_facts(comm);
  }
}

static void predefined_attribute_facts(MPI_Comm comm) {
  static const struct {
    const char* name;
    int keyval;
  } known[] = {
    {"MPI_TAG_UB", MPI_TAG_UB},
    {"MPI_HOST", MPI_HOST},
    {"MPI_IO", MPI_IO},
    {"MPI_WTIME_IS_GLOBAL", MPI_WTIME_IS_GLOBAL},
    {"MPI_APPNUM", MPI_APPNUM},
    {"MPI_LASTUSEDCODE", MPI_LASTUSEDCODE},
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
    {"MPI_FT", MPI_FT},
#endif
    {"MPI_UNIVERSE_SIZE", MPI_UNIVERSE_SIZE}
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    int* value = NULL;
    int there = 0;
    MPI_Comm_get_attr(comm, known[i].keyval, &value, &there);
    if (there)
      fact("comm", HANDLE(comm), "attribute", "%s %d", known[i].name, *value);
  }
}

static void comm_facts(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  int number = 0;
  int inter = 0;
  MPI_Group group;
  MPI_Errhandler errhandler;
  MPI_Comm_get_name(comm, name, &length);
  fact("comm", HANDLE(comm), "name", "%s", name);
  fact("comm", HANDLE(comm), "fortran", "%d", (int)MPI_Comm_c2f(comm));
  MPI_Comm_rank(comm, &number);
  fact("comm", HANDLE(comm), "rank", "%d", number);
  MPI_Comm_size(comm, &number);
  fact("comm", HANDLE(comm), "size", "%d", number);
  MPI_Comm_test_inter(comm, &inter);
  fact("comm", HANDLE(comm), "inter", "%d", inter);
  fact("comm", HANDLE(comm), "predefined", "%d", comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF);
  MPI_Comm_group(comm, &group);
  group_fact(comm, "group", group);
  if (inter) {
    MPI_Comm_remote_group(comm, &group);
    group_fact(comm, "remote_group", group);
  } else {
    topology_facts(comm);
  }
  MPI_Comm_get_errhandler(comm, &errhandler);
  fact("comm", HANDLE(comm), "errhandler", "0x%llx", HANDLE(errhandler));
  MPI_Errhandler_free(&errhandler);
  predefined_attribute_facts(comm);
}

static void reordered_fact(MPI_Comm comm, int reordered) {
  fact("comm", HANDLE(comm), "reordered", "%d", reordered);
}

static void topologies(void) {
  int dims[2] = {0, 0};
  const int periods[2] = {1, 0};
  int index[64];
  int edges[64];
  MPI_Comm comm;
  MPI_Comm copy;
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  MPI_Comm_set_name(comm, "grid");
  comm_facts(comm);
  reordered_fact(comm, 0);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_name(copy, "copied grid");
  comm_facts(copy);
  for (int i = 0; i < ranks; ++i) { // a ring
    edges[i] = (i + 1) % ranks;
    index[i] = i + 1;
  }
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
  comm_facts(comm);
  reordered_fact(comm, 0);
  const int last = (self + ranks - 1) % ranks;
  const int next = (self + 1) % ranks;
  const int weights[2] = {7, 11};
  const int sources[2] = {last, self};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 1, &next, weights + 1,
                                 MPI_INFO_NULL, 0, &comm);
  MPI_Comm_set_name(comm, "weighted");
  comm_facts(comm);
  reordered_fact(comm, 0);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, unweighted(), 1, &next, unweighted(),
                                 MPI_INFO_NULL, 1, &comm);
  comm_facts(comm);
  reordered_fact(comm, 1);
}

static void intercommunicators(void) {
  MPI_Comm half;
  MPI_Comm between;
  MPI_Comm_split(MPI_COMM_WORLD, self % 2, -self, &half);
  comm_facts(half);
  if (ranks < 2)
    return;
  // Leaders: the highest rank of each half, for the order is reversed.
  const int highest_of[2] = {(ranks - 1) / 2 * 2, (ranks - 2) / 2 * 2 + 1};
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, highest_of[1 - self % 2], 5, &between);
  MPI_Comm_set_name(between, "both halves");
  comm_facts(between);
}

static void own_attributes(MPI_Comm comm) {
  static int values[2];
  for (int i = 0; i < 2; ++i) {
    int keyval = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &values[i]);
    fact("comm", HANDLE(comm), "attribute", "%d 0x%llx", keyval,
         (unsigned long long)(uintptr_t)&values[i]);
  }
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static void errhandler_facts(MPI_Errhandler errhandler, const char* name, int predefined) {
  const unsigned long long handle = HANDLE(errhandler);
  fact("errhandler", handle, "name", "%s", name);
  fact("errhandler", handle, "fortran", "%d", (int)MPI_Errhandler_c2f(errhandler));
  fact("errhandler", handle, "predefined", "%d", predefined);
}

static unsigned long long function_address(void (*function)(MPI_Comm*, int*, ...)) {
  uintptr_t address = 0;
  memcpy(&address, &function, sizeof address);
  return address;
}

static void own_errhandler_facts(MPI_Errhandler errhandler, int freed, const char* attached) {
  const unsigned long long handle = HANDLE(errhandler);
  errhandler_facts(errhandler, "", 0);
  fact("errhandler", handle, "for", "comm");
  fact("errhandler", handle, "callback", "0x%llx", function_address(on_error));
  fact("errhandler", handle, "c", "1");
  fact("errhandler", handle, "freed", "%d", freed);
  fact("errhandler", handle, "attached", "%s", attached);
}

static void errhandlers(MPI_Comm comm) {
  char attached[32];
  MPI_Errhandler of_comm;
  MPI_Errhandler alone;
  MPI_Errhandler freed;
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_create_errhandler(on_error, &of_comm);
  MPI_Comm_create_errhandler(on_error, &alone);
  MPI_Comm_create_errhandler(on_error, &freed);
  MPI_Comm_set_errhandler(comm, of_comm);
  MPI_Comm_set_errhandler(other, freed);
  snprintf(attached, sizeof attached, "0x%llx", HANDLE(comm));
  own_errhandler_facts(of_comm, 0, attached);
  own_errhandler_facts(alone, 0, "");
  snprintf(attached, sizeof attached, "0x%llx", HANDLE(other));
  own_errhandler_facts(freed, 1, attached);
  comm_facts(other);
  MPI_Errhandler_free(&freed);
  errhandler_facts(MPI_ERRORS_ARE_FATAL, "MPI_ERRORS_ARE_FATAL", 1);
  errhandler_facts(MPI_ERRORS_RETURN, "MPI_ERRORS_RETURN", 1);
  errhandler_facts(MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL", 1);
}

/// Freed by the program; what uses it keeps it alive, or nothing does.
static void freed_communicators(void) {
  static int received;
  MPI_Comm comm;
  MPI_Comm handle;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "still in use");
  fact("comm", HANDLE(comm), "name", "still in use");
  fact("comm", HANDLE(comm), "size", "%d", ranks);
  fact("comm", HANDLE(comm), "freed", "1");
  MPI_Irecv(&received, 1, MPI_INT, self, 50, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  handle = comm;
  MPI_Comm_free(&comm);
  fact("comm", HANDLE(handle), "gone", "1");
}

static void ignore_signal(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  if (argc < 2)
    return 2;
  signal(SIGUSR1, ignore_signal);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  facts_begin(argv[1], self);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "a duplicate");
  own_attributes(comm);
  errhandlers(comm);
  comm_facts(MPI_COMM_WORLD);
  comm_facts(MPI_COMM_SELF);
  comm_facts(comm);
  const MPI_Comm null = MPI_COMM_NULL;
  fact("comm", HANDLE(null), "null", "1");
  topologies();
  intercommunicators();
  make_requests(comm, self, ranks);
  freed_communicators();
  make_a_request_that_is_matched();
  facts_end();
  job_ready(argv[1], self);
  if (argc > 2)
    raise(SIGUSR1);
  job_wait_for_go(argv[1]);
  job_finished(argv[1], self);
  _Exit(0); // with all of that under way
}
