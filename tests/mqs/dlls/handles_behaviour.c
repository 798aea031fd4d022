// Debug DLLs for handles that misbehave, one at a time: BEHAVIOUR says how. Without any each
// function of both parts of dll/mpidbg_interface.h answers, with one handle of each kind that has
// everything: 0x10 a communicator, 0x20 a request, 0x30 an error handler, 0x40 a status.
// Of the error handler 0x31 it is not known whether it was freed.

#include "dll/mpidbg_interface.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum behaviour {
  ANSWERS,
  NEXT_VERSION,
  NARROW,
  NARROW_BY_BITNESS,
  FAILS_ONCE,
  SUPPORTS_NO_IMAGE,
  PROCESS_UNAVAILABLE,
  CRASHES_IN_COMM_QUERY,
  CRASHES_IN_REQUEST_DESCRIBE,
  CRASHES_IN_REQUEST_LIST,
  CRASHES_IN_F2C,
  CRASHES_AT_THE_END,
  LOOPS_IN_ERRHANDLER_QUERY,
  EXITS_IN_STATUS_QUERY,
  CONNECTS_IN_COMM_QUERY,
  LISTS_MINUS_1,
  LISTS_2_31,
  LISTS_NOTHING_BY_COUNT,
  LISTS_FOR_LONG,
  NAMES_WITHOUT_END,
  ANSWERS_WILD,
  ANSWERS_NULL,
  WILD_GROUP,
  HUGE_COUNTS,
  NEGATIVE_COUNTS,
  NULL_ARRAYS,
  UNTERMINATED_TEXTS,
  UNKNOWN_ENUMERATIONS,
  RANK_BEYOND_GROUP,
  ONE_TWICE_IN_GROUP,
  TWO_TOPOLOGIES,
  SIZE_OF_AN_OLD_ONE,
  SIZE_OF_A_NEW_ONE,
  SIZE_3,
  ODD_CODES,
  LISTS_PARTLY,
  READS_AT_THE_HANDLE,
};

static const mqs_basic_callbacks* host;
static const mqs_process_callbacks* memory;
static int* volatile nowhere = NULL;

char mpidbg_dll_bitness = BEHAVIOUR == NARROW_BY_BITNESS ? 32 : 64;
enum mpidbg_comm_capabilities_t mpidbg_comm_capabilities = (enum mpidbg_comm_capabilities_t)(
    MPIDBG_COMM_CAP_BASIC | MPIDBG_COMM_CAP_FREED_HANDLE | MPIDBG_COMM_CAP_REQUEST_LIST |
    MPIDBG_COMM_CAP_WINDOW_LIST | MPIDBG_COMM_CAP_FILE_LIST);
enum mpidbg_errhandler_capabilities_t mpidbg_errhandler_capabilities =
    (enum mpidbg_errhandler_capabilities_t)(MPIDBG_ERRH_CAP_BASIC | MPIDBG_ERRH_CAP_FREED_HANDLE |
                                            MPIDBG_ERRH_CAP_HANDLE_LIST);
struct mpidbg_name_map_t* mpidbg_comm_name_map;

static void crash(void) {
  *nowhere = 1;
}

int mpidbg_init_once(const mqs_basic_callbacks* callbacks) {
  host = callbacks;
  return BEHAVIOUR == FAILS_ONCE ? MPIDBG_ERR_NO_MEM : MPIDBG_SUCCESS;
}

int mpidbg_interface_version_compatibility(void) {
  return BEHAVIOUR == NEXT_VERSION ? 2 : 1;
}

char* mpidbg_version_string(void) {
  return "behaviour 1.0";
}

int mpidbg_dll_taddr_width(void) {
  return BEHAVIOUR == NARROW ? 4 : 8;
}

int mpidbg_init_per_image(mqs_image* image, const mqs_image_callbacks* callbacks,
                          struct mpidbg_handle_info_t* types) {
  (void)callbacks, (void)types;
  host->mqs_put_image_info_fp(image, (mqs_image_info*)1);
  return BEHAVIOUR == SUPPORTS_NO_IMAGE ? MPIDBG_ERR_NOT_SUPPORTED : MPIDBG_SUCCESS;
}

int mpidbg_init_per_process(mqs_process* process, const mqs_process_callbacks* callbacks,
                            struct mpidbg_handle_info_t* types) {
  (void)types;
  memory = callbacks;
  host->mqs_put_process_info_fp(process, (mqs_process_info*)2);
  if (BEHAVIOUR == NAMES_WITHOUT_END) {
    enum { many = 10000 };
    mpidbg_comm_name_map = host->mqs_malloc_fp(sizeof *mpidbg_comm_name_map * many);
    for (int i = 0; i < many; ++i)
      mpidbg_comm_name_map[i] = (struct mpidbg_name_map_t){"MPI_COMM_SELF", 0x10};
  }
  return BEHAVIOUR == PROCESS_UNAVAILABLE ? MPIDBG_ERR_UNAVAILABLE : MPIDBG_SUCCESS;
}

void mpidbg_finalize_per_process(mqs_process* process, mqs_process_info* info) {
  (void)process;
  if (BEHAVIOUR == CRASHES_AT_THE_END || info != (mqs_process_info*)2)
    crash();
}

int mpidbg_extension_version(void) {
  return MPIDBG_EXTENSION_VERSION;
}

#ifndef NO_QUERY

static volatile int zero = 0;

static int code_of(MPIDBG_OF) {
  if (image == NULL || process == NULL || image_info != (mqs_image_info*)1 ||
      process_info != (mqs_process_info*)2)
    crash();
  return BEHAVIOUR == ODD_CODES ? 77 : MPIDBG_SUCCESS;
}
#define CODE code_of(image, image_info, process, process_info)

/// Of all that is counted.
static int count_of(int honest) {
  return BEHAVIOUR == HUGE_COUNTS ? INT_MAX : BEHAVIOUR == NEGATIVE_COUNTS ? -7 : honest;
}
#define ARRAY(array) (BEHAVIOUR == NULL_ARRAYS ? NULL : (array))

static struct mpidbg_process_t group[3] = {{4}, {-1}, {6}};
static struct mpidbg_process_t remote_group[2] = {{0}, {1}};
static int dims[2] = {3, 1};
static int8_t periods[2] = {1, 0};
static int graph_index[3] = {1, 3, 4};
static int graph_edges[4] = {1, 0, 2, 1};
static int sources[2] = {1, 2}, source_weights[2] = {10, 20};
static int destinations[1] = {2}, destination_weights[1] = {30};
static char long_text[8192];
static struct mpidbg_attribute_pair_t attributes[2] = {{1, "MPI_TAG_UB", "32767"},
                                                       {-5, NULL, "0xabc"}};
static mqs_taddr_t requests[1] = {0x20}, windows[2] = {0x50, 0x51};
static struct mpidbg_comm_info_t comm;
static struct mpidbg_comm_description comm_description;
static struct mpidbg_request_info_t request;
/// What a later version would have.
static struct {
  struct mpidbg_request_description known;
  char more[64];
} request_description;
static struct mpidbg_errhandler_info_t errhandler;
static struct mpidbg_status_info_t status;
static struct mpidbg_status_description status_description;

/// The size that a description claims to have.
static uint32_t size_of(size_t honest) {
  if (BEHAVIOUR == SIZE_3)
    return 3;
  if (BEHAVIOUR == SIZE_OF_A_NEW_ONE)
    return (uint32_t)honest + 64;
  return (uint32_t)honest;
}

static void describe_topology(void) {
  comm.comm_cart_num_dims = count_of(2);
  comm.comm_cart_dims = ARRAY(dims);
  comm.comm_cart_periods = ARRAY(periods);
  comm.comm_graph_num_nodes = count_of(3);
  comm.comm_graph_index = ARRAY(graph_index);
  comm.comm_graph_edges = ARRAY(graph_edges);
  comm_description.num_sources = count_of(2);
  comm_description.num_destinations = count_of(1);
  comm_description.weighted = 1;
  comm_description.sources = ARRAY(sources);
  comm_description.source_weights = ARRAY(source_weights);
  comm_description.destinations = ARRAY(destinations);
  comm_description.destination_weights = ARRAY(destination_weights);
}

int mpidbg_comm_query(MPIDBG_OF, mqs_taddr_t handle, struct mpidbg_comm_info_t** info) {
  if (BEHAVIOUR == CRASHES_IN_COMM_QUERY)
    crash();
  if (BEHAVIOUR == CONNECTS_IN_COMM_QUERY)
    socket(AF_INET, SOCK_STREAM, 0);
  if (handle < 0x10 || handle > 0x12)
    return MPIDBG_ERR_NOT_FOUND;
  // 0x10 is on a grid, 0x11 a graph, 0x12 a distributed graph and an intercommunicator.
  static const int topology[3] = {MPIDBG_COMM_INFO_CARTESIAN | MPIDBG_COMM_INFO_TOPO_REORDERED,
                                  MPIDBG_COMM_INFO_GRAPH,
                                  MPIDBG_COMM_INFO_DIST_GRAPH | MPIDBG_COMM_INFO_INTERCOMM};
  int flags = topology[handle - 0x10];
  if (BEHAVIOUR == TWO_TOPOLOGIES)
    flags |= MPIDBG_COMM_INFO_GRAPH;
  comm.comm_bitflags = (enum mpidbg_comm_info_bitmap_t)flags;
  memset(comm.comm_name, BEHAVIOUR == UNTERMINATED_TEXTS ? 'x' : 0, sizeof comm.comm_name);
  if (BEHAVIOUR != UNTERMINATED_TEXTS)
    strcpy(comm.comm_name, "grid");
  if (BEHAVIOUR == ONE_TWICE_IN_GROUP)
    group[1].mpi_comm_world_rank = 4;
  comm.comm_rank = BEHAVIOUR == RANK_BEYOND_GROUP ? 3 : 2;
  comm.comm_size = 3;
  comm.comm_num_local_procs = count_of(3);
  comm.comm_local_procs = BEHAVIOUR == WILD_GROUP ? (struct mpidbg_process_t*)0x1000 : ARRAY(group);
  comm.comm_num_remote_procs = count_of(2);
  comm.comm_remote_procs = ARRAY(remote_group);
  describe_topology();
  comm.comm_c_handle = handle;
  comm.comm_fortran_handle = 4; // which is a code, too
  comm.comm_num_attrs = count_of(2);
  memset(long_text, 'y', sizeof long_text);
  if (BEHAVIOUR == UNTERMINATED_TEXTS)
    attributes[0].value = long_text;
  comm.comm_attrs = ARRAY(attributes);
  comm.comm_num_pending_requests = count_of(1);
  comm.comm_pending_requests = ARRAY(requests);
  comm.comm_num_derived_windows = count_of(2);
  comm.comm_derived_windows = ARRAY(windows);
  comm.comm_num_derived_files = count_of(0);
  comm.comm_derived_files = ARRAY(windows); // there are none, and that is known
  *info = BEHAVIOUR == ANSWERS_NULL   ? NULL
          : BEHAVIOUR == ANSWERS_WILD ? (struct mpidbg_comm_info_t*)0x1000
                                      : &comm;
  return CODE;
}

int mpidbg_comm_describe(MPIDBG_OF, mqs_taddr_t handle,
                         struct mpidbg_comm_description** description) {
  comm_description.size = size_of(sizeof comm_description);
  comm_description.known = MPIDBG_KNOWN_FORTRAN | MPIDBG_KNOWN_ERRHANDLER | MPIDBG_KNOWN_CONTEXT |
                           MPIDBG_KNOWN_NEIGHBORS | MPIDBG_KNOWN_ATTRIBUTES | MPIDBG_KNOWN_TOPOLOGY;
  if (handle == 0x11)
    comm_description.known |= MPIDBG_KNOWN_REORDERED;
  if (BEHAVIOUR == SIZE_OF_AN_OLD_ONE)
    comm_description.size = offsetof(struct mpidbg_comm_description, context);
  comm_description.handle = handle;
  comm_description.fortran_handle = 4;
  comm_description.errhandler = 0x30;
  comm_description.context = 99;
  *description = &comm_description;
  return CODE;
}

int mpidbg_request_query(MPIDBG_OF, mqs_taddr_t handle, struct mpidbg_request_info_t** info) {
  char byte = 0;
  if (BEHAVIOUR == READS_AT_THE_HANDLE &&
      memory->mqs_fetch_data_fp(process, handle + 16, sizeof byte, &byte) != mqs_ok)
    return MPIDBG_ERR_UNAVAILABLE;
  if (handle != 0x20)
    return MPIDBG_ERR_NOT_FOUND;
  request = (struct mpidbg_request_info_t){0, handle, 17};
  *info = BEHAVIOUR == ANSWERS_NULL ? NULL : &request;
  return CODE;
}

int mpidbg_request_describe(MPIDBG_OF, mqs_taddr_t handle,
                            struct mpidbg_request_description** description) {
  if (BEHAVIOUR == CRASHES_IN_REQUEST_DESCRIBE)
    crash();
  struct mpidbg_request_description* to = &request_description.known;
  *to = (struct mpidbg_request_description){.size = size_of(sizeof *to),
                                            .known = UINT32_MAX,
                                            .kind = MPIDBG_REQUEST_RECEIVE,
                                            .state = MPIDBG_STATE_COMPLETE,
                                            .handle = handle,
                                            .fortran_handle = 17,
                                            .persistent = 1,
                                            .comm = 0x10,
                                            .peer = MPIDBG_ANY_SOURCE,
                                            .tag = 5,
                                            .count = 100,
                                            .bytes = 800,
                                            .buffer = 0x7000,
                                            .actual_source = 2,
                                            .actual_tag = 5,
                                            .actual_bytes = 400,
                                            .error = 15,
                                            .cancelled = 0,
                                            .site = 0x401234,
                                            .call = "MPI_Recv_init",
                                            .datatype = "MPI_DOUBLE"};
  if (BEHAVIOUR == UNTERMINATED_TEXTS) {
    memset(to->call, 'c', sizeof to->call);
    memset(to->datatype, 'd', sizeof to->datatype);
  }
  if (BEHAVIOUR == UNKNOWN_ENUMERATIONS) {
    to->kind = 9;
    to->state = -1;
    to->peer = -3;
  }
  if (BEHAVIOUR == SIZE_OF_AN_OLD_ONE)
    to->size = offsetof(struct mpidbg_request_description, actual_bytes);
  *description = to;
  return CODE;
}

int mpidbg_errhandler_query(MPIDBG_OF, mqs_taddr_t handle, struct mpidbg_errhandler_info_t** info) {
  while (BEHAVIOUR == LOOPS_IN_ERRHANDLER_QUERY && zero == 0) {
  }
  if (handle != 0x30 && handle != 0x31)
    return MPIDBG_ERR_NOT_FOUND;
  static mqs_taddr_t attached[2] = {0x10, 0x11};
  errhandler.eh_bitflags = (enum mpidbg_errhandler_info_bitmap_t)(
      MPIDBG_ERRH_INFO_COMMUNICATOR | MPIDBG_ERRH_INFO_C_CALLBACK |
      (int)(handle == 0x30 ? MPIDBG_ERRH_INFO_FREED_HANDLE : MPIDBG_ERRH_INFO_FREED_NOT_KNOWN));
  errhandler.eh_c_handle = handle;
  errhandler.eh_fortran_handle = 2;
  errhandler.eh_refcount = (int16_t)(BEHAVIOUR == NEGATIVE_COUNTS ? -7 : 2);
  errhandler.eh_handles = ARRAY(attached);
  errhandler.eh_callback_func = 0x401000;
  *info = BEHAVIOUR == ANSWERS_NULL ? NULL : &errhandler;
  return CODE;
}

int mpidbg_status_query(MPIDBG_OF, mqs_taddr_t address, struct mpidbg_status_info_t** info) {
  if (BEHAVIOUR == EXITS_IN_STATUS_QUERY)
    _exit(7);
  if (address != 0x40)
    return MPIDBG_ERR_NOT_FOUND;
  *info = BEHAVIOUR == ANSWERS_NULL ? NULL : &status;
  return CODE;
}

int mpidbg_status_describe(MPIDBG_OF, mqs_taddr_t address,
                           struct mpidbg_status_description** description) {
  (void)address;
  status_description =
      (struct mpidbg_status_description){.size = size_of(sizeof status_description),
                                         .known = UINT32_MAX,
                                         .source = 1,
                                         .tag = 7,
                                         .error = 0,
                                         .cancelled = 1,
                                         .bytes = 64};
  *description = &status_description;
  return CODE;
}

int mpidbg_comm_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* handle) {
  if (BEHAVIOUR == CRASHES_IN_F2C)
    crash();
  if (fortran != 4)
    return MPIDBG_ERR_NOT_FOUND;
  *handle = 0x10;
  return CODE;
}

int mpidbg_comm_list(MPIDBG_OF, mqs_taddr_t** handles, int* count) {
  enum { too_many = 65537 };
  static mqs_taddr_t list[too_many] = {0x10, 0x11, 0x12, 0x13};
  if (BEHAVIOUR == NAMES_WITHOUT_END)
    return MPIDBG_ERR_NOT_SUPPORTED;
  *handles = BEHAVIOUR == LISTS_NOTHING_BY_COUNT ? NULL : list;
  *count = BEHAVIOUR == LISTS_MINUS_1    ? -1
           : BEHAVIOUR == LISTS_2_31     ? INT_MAX
           : BEHAVIOUR == LISTS_FOR_LONG ? too_many
           : BEHAVIOUR == LISTS_PARTLY   ? 1
                                         : 4;
  return BEHAVIOUR == LISTS_PARTLY ? MPIDBG_ERR_UNAVAILABLE : CODE;
}

int mpidbg_request_list(MPIDBG_OF, mqs_taddr_t** handles, int* count) {
  if (BEHAVIOUR == CRASHES_IN_REQUEST_LIST)
    crash();
  *handles = requests;
  *count = 1;
  return CODE;
}

#endif
