/* Handles of one rank or two: what the recorder keeps of communicators, attributes, error handlers
 * and requests is what MPI itself says of them, and what the program has done. */

#include "tests/recorder/programs/expected.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_recorded;

static const void* at(const struct mqr_slot* slot) {
  return (const void*)slot->word;
}
static uintptr_t word_of(const void* handle, size_t size) {
  uintptr_t word = 0;
  uint32_t integer = 0;
  memcpy(size == 4 ? (void*)&integer : (void*)&word, handle, size);
  return size == 4 ? integer : word;
}
#define WORD(handle) word_of(&(handle), sizeof(handle))

static const struct mqr_handles* handles(void) {
  const struct mqr_handles* const found = at(&recorder()->handles);
  REQUIRE(found != NULL && found->magic == MQR_MAGIC_HANDLES && found->size == sizeof *found);
  return found;
}

static const struct mqr_communicator* kept(MPI_Comm comm) {
  const struct mqr_communicator* found = at(&recorder()->communicators.first);
  while (found != NULL &&
         ((found->known & MQR_KNOWN_HANDLE) == 0 || found->handle.word != WORD(comm)))
    found = at(&found->node.next);
  return found;
}

static const struct mqr_errhandler* kept_errhandler(uintptr_t handle) {
  const struct mqr_errhandler* found = at(&handles()->errhandlers.first);
  while (found != NULL && found->handle.word != handle)
    found = at(&found->node.next);
  return found;
}

/* How many attributes of a keyval it has; the last one's value. */
static int kept_attribute(const struct mqr_communicator* comm, int keyval, int64_t* value) {
  const struct mqr_attributes* const table = at(&comm->attributes);
  const struct mqr_attribute* const entries = (const struct mqr_attribute*)(table + 1);
  int found = 0;
  for (uint32_t i = 0; table != NULL && i < table->count; ++i)
    if (entries[i].keyval == keyval) {
      *value = entries[i].value;
      ++found;
    }
  return found;
}

static void check_attribute(MPI_Comm comm, int keyval, int predefined) {
  void* value = NULL;
  int is_set = 0;
  int64_t seen = 0;
  MPI_Comm_get_attr(comm, keyval, &value, &is_set);
  REQUIRE(kept_attribute(kept(comm), keyval, &seen) == (is_set != 0));
  if (is_set)
    REQUIRE(seen == (predefined ? *(int*)value : (int64_t)(uintptr_t)value));
}

/* Of any communicator: what MPI itself says. */
static void check_communicator(MPI_Comm comm) {
  if (!is_recorded)
    return;
  const struct mqr_communicator* const seen = kept(comm);
  REQUIRE(seen != NULL);
  REQUIRE((seen->known & MQR_KNOWN_FORTRAN) != 0 && seen->fortran == MPI_Comm_c2f(comm));
  const int is_predefined = comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
  REQUIRE(((seen->known & MQR_PREDEFINED) != 0) == is_predefined);
  MPI_Errhandler errhandler;
  MPI_Comm_get_errhandler(comm, &errhandler);
  REQUIRE((seen->known & MQR_KNOWN_ERRHANDLER) != 0 && seen->errhandler.word == WORD(errhandler));
  REQUIRE(kept_errhandler(WORD(errhandler)) != NULL);
  MPI_Errhandler_free(&errhandler);
  REQUIRE((seen->known & MQR_KNOWN_ATTRIBUTES) != 0);
  static const int predefined[] = {MPI_TAG_UB,          MPI_HOST,          MPI_IO,
                                   MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM,
                                   MPI_LASTUSEDCODE};
  for (size_t i = 0; i < sizeof predefined / sizeof *predefined; ++i)
    check_attribute(comm, predefined[i], 1);
}

static void predefined_handles(void) {
  check_communicator(MPI_COMM_WORLD);
  check_communicator(MPI_COMM_SELF);
  if (!is_recorded)
    return;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
  REQUIRE(handles()->comm_null.word == WORD(comm));
  REQUIRE(handles()->request_null.word == WORD(request));
  REQUIRE(handles()->errhandler_null.word == WORD(errhandler));
  errhandler = MPI_ERRORS_RETURN;
  REQUIRE(kept_errhandler(WORD(errhandler))->predefined == MQR_ERRORS_RETURN);
  errhandler = MPI_ERRORS_ARE_FATAL;
  REQUIRE(kept_errhandler(WORD(errhandler))->predefined == MQR_ERRORS_ARE_FATAL);
  REQUIRE(handles()->errhandlers.count == (MPI_VERSION >= 4 ? 3 : 2));
}

static void check_topology(MPI_Comm comm, enum mqr_topology_kind kind, uint32_t flags,
                           const int* numbers, uint32_t first, uint32_t second, size_t count) {
  check_communicator(comm);
  if (!is_recorded)
    return;
  const struct mqr_topology* const seen = at(&kept(comm)->topology);
  REQUIRE((kept(comm)->known & MQR_KNOWN_TOPOLOGY) != 0);
  REQUIRE(seen != NULL && seen->magic == MQR_MAGIC_TOPOLOGY && seen->kind == kind);
  REQUIRE(seen->flags == flags && seen->first == first && seen->second == second);
  REQUIRE(memcmp(seen + 1, numbers, count * sizeof *numbers) == 0);
}

/* So that no compiler takes the constant for an array. */
static int* unweighted(void) {
  int* volatile const none = MPI_UNWEIGHTED;
  return none;
}

static void topologies(void) {
  int rank = 0;
  int size = 0;
  MPI_Comm made[6];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int cart[] = {size, 1, 0, 1}; /* sizes, periods */
  const int of_two[] = {1, 2, 1, 0};
  const int of_one[] = {1, 0};
  const int* const graph = size == 2 ? of_two : of_one;
  MPI_Cart_create(MPI_COMM_WORLD, 2, cart, cart + 2, 1, &made[0]);
  MPI_Graph_create(MPI_COMM_WORLD, size, graph, graph + size, 0, &made[1]);
  const int other = size - 1 - rank;
  const int from[] = {other, other, rank}; /* twice the same */
  const int weights[] = {3, 4, 5};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 1, from + 2, weights + 2,
                                 MPI_INFO_NULL, 0, &made[2]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, unweighted(), 1, from, unweighted(),
                                 MPI_INFO_NULL, 1, &made[3]);
  MPI_Comm_dup(made[0], &made[4]);
  const int remain[] = {1, 0};
  MPI_Cart_sub(made[0], remain, &made[5]);
  MPI_Comm_set_errhandler(made[5], MPI_ERRORS_RETURN);
  const int distributed[] = {from[0], from[1], from[2], 3, 4, 5};
  const int neighbors[] = {other, other};
  check_topology(made[0], MQR_CARTESIAN, MQR_KNOWN_REORDER | MQR_REORDER, cart, 2, 0, 4);
  check_topology(made[1], MQR_GRAPH, MQR_KNOWN_REORDER, graph, (uint32_t)size, (uint32_t)size,
                 2 * (size_t)size);
  check_topology(made[2], MQR_DIST_GRAPH, MQR_KNOWN_REORDER | MQR_WEIGHTED, distributed, 2, 1, 6);
  check_topology(made[3], MQR_DIST_GRAPH, MQR_KNOWN_REORDER | MQR_REORDER, neighbors, 1, 1, 2);
  check_topology(made[4], MQR_CARTESIAN, 0, cart, 2, 0, 4);
  const int line[] = {size, 0};
  check_topology(made[5], MQR_CARTESIAN, 0, line, 1, 0, 2);
  for (int i = 0; i < 6; ++i) {
    MPI_Comm_free(&made[i]);
    if (is_recorded)
      REQUIRE(handles()->errhandlers.count >= 2);
  }
  if (is_recorded)
    REQUIRE(kept(MPI_COMM_WORLD)->topology.word == 0 &&
            (kept(MPI_COMM_WORLD)->known & MQR_KNOWN_TOPOLOGY) != 0);
}

/* A copy function that gives another value. */
static int copy_more(MPI_Comm comm, int keyval, void* extra, void* before, void* after,
                     int* is_set) {
  (void)comm;
  (void)keyval;
  *(char**)after = (char*)before + *(int*)extra;
  *is_set = 1;
  return MPI_SUCCESS;
}
static int second;
/* A delete function that sets an attribute of another communicator. */
static int set_second(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)value;
  return MPI_Comm_set_attr(MPI_COMM_SELF, second, extra);
}

static void check_keyval(MPI_Comm comm, int keyval) {
  if (is_recorded)
    check_attribute(comm, keyval, 0);
}

static void attributes(void) {
  int more = 3;
  int first = 0;
  int third = 0;
  char values[8];
  MPI_Comm comm, copy, nonblocking;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(copy_more, MPI_COMM_NULL_DELETE_FN, &first, &more);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &second, NULL);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, set_second, &third, &values[7]);
  check_keyval(comm, first);
  MPI_Comm_set_attr(comm, first, &values[0]);
  MPI_Comm_set_attr(comm, first, &values[1]); /* replaces it */
  MPI_Comm_set_attr(comm, third, &values[2]);
  check_keyval(comm, first);
  check_keyval(comm, second);
  MPI_Comm_delete_attr(comm, third);
  check_keyval(MPI_COMM_SELF, second);
  MPI_Comm_delete_attr(MPI_COMM_SELF, second);
  check_keyval(MPI_COMM_SELF, second);
  check_keyval(comm, third);
  MPI_Comm_dup(comm, &copy);
  check_keyval(copy, first); /* another value */
  check_keyval(copy, second);
  MPI_Request request;
  MPI_Comm_idup(comm, &nonblocking, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(nonblocking);
  check_communicator(nonblocking);
  check_keyval(nonblocking, first);
  int class = 0;
  int code = 0;
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  check_communicator(MPI_COMM_WORLD); /* MPI_LASTUSEDCODE */
  check_communicator(comm);
  /* It stays set, and cannot be asked for any more: a copy may have it unseen. */
  int freed = first;
  MPI_Comm_free_keyval(&freed);
  MPI_Comm last;
  MPI_Comm_dup(comm, &last);
  int64_t value = 0;
  if (is_recorded) {
    REQUIRE(kept_attribute(kept(comm), first, &value) == 1);
    REQUIRE(value == (int64_t)(uintptr_t)&values[1]);
    REQUIRE((kept(last)->known & MQR_KNOWN_ATTRIBUTES) == 0);
  }
  MPI_Comm_free(&last);
  MPI_Comm_free(&nonblocking);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&second);
  MPI_Comm_free_keyval(&third);
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}
static void on_window_error(MPI_Win* window, int* code, ...) {
  (void)window;
  (void)code;
}

static void errhandlers(void) {
  MPI_Errhandler own, window, again;
  MPI_Comm comm, derived;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_errhandler(on_error, &own);
  MPI_Win_create_errhandler(on_window_error, &window);
  const uintptr_t handle = WORD(own);
  if (is_recorded) {
    const struct mqr_errhandler* const seen = kept_errhandler(handle);
    REQUIRE(seen != NULL &&
            seen->flags == (MQR_FOR_COMMUNICATORS | MQR_C_FUNCTION | MQR_ERRHANDLER_HAS_FORTRAN));
    REQUIRE(seen->function.word == (uintptr_t)on_error);
    REQUIRE(seen->fortran == MPI_Errhandler_c2f(own) && seen->predefined == MQR_OWN_ERRHANDLER);
    REQUIRE((kept_errhandler(WORD(window))->flags & MQR_FOR_WINDOWS) != 0);
  }
  MPI_Comm_set_errhandler(comm, own);
  MPI_Comm_dup(comm, &derived); /* has it, too */
  MPI_Comm_get_errhandler(comm, &again);
  MPI_Errhandler_free(&own);
  if (is_recorded)
    REQUIRE((kept_errhandler(handle)->flags & MQR_HANDLE_FREED) == 0);
  MPI_Errhandler_free(&again);
  MPI_Errhandler_free(&window);
  if (is_recorded) {
    REQUIRE((kept_errhandler(handle)->flags & MQR_HANDLE_FREED) != 0);
    REQUIRE(kept(derived)->errhandler.word == handle);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (is_recorded)
    REQUIRE(kept_errhandler(handle) != NULL);
  MPI_Comm_free(&derived);
  if (is_recorded) {
    REQUIRE(kept_errhandler(handle) == NULL);
    REQUIRE(handles()->errhandlers.count == (MPI_VERSION >= 4 ? 3 : 2));
  }
  MPI_Comm_free(&comm);
}

/* One that is in use still, but for whose handle the program has none any more. */
static void check_attached(uintptr_t handle, int is_freed) {
  if (!is_recorded)
    return;
  const struct mqr_errhandler* const seen = kept_errhandler(handle);
  REQUIRE(seen != NULL && ((seen->flags & MQR_HANDLE_FREED) != 0) == is_freed);
  REQUIRE((handles()->flags & MQR_UNSEEN_ERRHANDLERS) == 0);
}

static void errhandler_of_a_window(void) {
  int size = 0;
  int memory = 0;
  MPI_Errhandler own, again;
  MPI_Win window;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1)
    return; /* as in window_requests() */
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_create_errhandler(on_window_error, &own);
  const uintptr_t handle = WORD(own);
  MPI_Win_set_errhandler(window, own);
  MPI_Errhandler_free(&own);
  check_attached(handle, 1);
  MPI_Win_get_errhandler(window, &again);
  check_attached(handle, 0);
  MPI_Errhandler_free(&again);
  check_attached(handle, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  if (is_recorded)
    REQUIRE(kept_errhandler(handle) == NULL);
  MPI_Win_create_errhandler(on_window_error, &own);
  const uintptr_t second_handle = WORD(own);
  MPI_Win_set_errhandler(window, own);
  MPI_Errhandler_free(&own);
  check_attached(second_handle, 1);
  MPI_Win_free(&window);
  if (is_recorded)
    REQUIRE(kept_errhandler(second_handle) == NULL);
}

static void on_file_error(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
}

static void errhandler_of_a_file(void) {
  char name[] = "/tmp/recorder-handles-XXXXXX";
  MPI_Errhandler own;
  MPI_File file;
  const int created = mkstemp(name);
  REQUIRE(created >= 0 && close(created) == 0);
  REQUIRE(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_File_create_errhandler(on_file_error, &own);
  const uintptr_t handle = WORD(own);
  MPI_File_set_errhandler(file, own);
  MPI_Errhandler_free(&own);
  check_attached(handle, 1);
  MPI_File_close(&file);
  if (is_recorded)
    REQUIRE(kept_errhandler(handle) == NULL);
}

static jmp_buf home;
static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  longjmp(home, 1);
}

/* Handles that the program is given after such a jump count as before it. */
static void left_by_a_jump(void) {
  MPI_Errhandler* volatile const nowhere = NULL;
  MPI_Errhandler jumping, again;
  MPI_Comm_create_errhandler(jump, &jumping);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumping);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, jumping);
  if (setjmp(home) == 0) {
    MPI_Comm_get_errhandler(MPI_COMM_SELF, nowhere);
    REQUIRE(!"reached");
  }
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &again);
  MPI_Errhandler_free(&again);
  const uintptr_t handle = WORD(jumping);
  check_attached(handle, 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&jumping);
  if (is_recorded)
    REQUIRE(kept_errhandler(handle) == NULL);
}

static int refuse(MPI_Comm comm, int keyval, void* value, void* refusing) {
  (void)comm;
  (void)keyval;
  (void)value;
  return *(const int*)refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* MPI may have deleted some attributes before one of them refused, and the communicator stays.
 * MPICH has half destroyed it by then, and ends the program that does anything with it. */
static void refused_free(void) {
  int keyval;
  int refusing = 1;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &keyval, &refusing);
  MPI_Comm_set_attr(comm, keyval, &refusing);
  check_keyval(comm, keyval);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* whose MPICH takes, too; or that */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REQUIRE(MPI_Comm_free(&comm) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (is_recorded)
    REQUIRE((kept(comm)->known & MQR_KNOWN_ATTRIBUTES) == 0);
#ifndef MPICH_VERSION
  refusing = 0;
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
#endif
}

static const struct mqr_unqueued* kept_request(MPI_Request request) {
  const struct mqr_unqueued* found = is_recorded ? at(&handles()->unqueued.first) : NULL;
  while (found != NULL && found->request.word != WORD(request))
    found = at(&found->node.next);
  return found;
}
static void check_request(MPI_Request request, uint32_t function, uint32_t flags) {
  if (!is_recorded)
    return;
  const struct mqr_unqueued* const seen = kept_request(request);
  if (seen == NULL) /* MPI has one handle for all that are complete */
    REQUIRE(handles()->complete_request.word == WORD(request) && flags == 0);
  else
    REQUIRE(seen->function == function && seen->flags == flags && seen->site.word != 0);
}
static void no_request(void) {
  if (is_recorded)
    REQUIRE(handles()->unqueued.first.word == 0 && handles()->unqueued.count == 0);
}

static void messages_of_nobody(void) {
  char byte = 0;
  MPI_Request requests[4];
  MPI_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&byte, 1, MPI_CHAR, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Send_init(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[2]);
  MPI_Recv_init(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 6, MPI_COMM_SELF, &requests[3]);
  check_request(requests[0], MQR_Isend, 0);
  if (kept_request(requests[1]) != NULL)
    check_request(requests[1], MQR_Irecv, MQR_ANY_TAG);
  check_request(requests[2], MQR_Send_init, MQR_PERSISTENT | MQR_INACTIVE);
  check_request(requests[3], MQR_Recv_init, MQR_PERSISTENT | MQR_INACTIVE);
  if (is_recorded) {
    const struct mqr_unqueued* const seen = kept_request(requests[3]);
    REQUIRE(seen->tag == 6 && seen->count == 1 && seen->length == 1);
    REQUIRE(seen->buffer.word == (uintptr_t)&byte && strcmp(seen->datatype, "MPI_CHAR") == 0);
    REQUIRE(at(&seen->communicator) == kept(MPI_COMM_SELF));
  }
  MPI_Startall(2, &requests[2]);
  check_request(requests[2], MQR_Send_init, MQR_PERSISTENT);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  check_request(requests[2], MQR_Send_init, MQR_PERSISTENT | MQR_INACTIVE);
  check_request(requests[3], MQR_Recv_init, MQR_PERSISTENT);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[2]);
  MPI_Request_free(&requests[3]);
  no_request();
}

static int query_nothing(void* extra, MPI_Status* status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int free_nothing(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}
static int cancel_nothing(void* extra, int is_complete) {
  (void)extra;
  (void)is_complete;
  return MPI_SUCCESS;
}

static void other_requests(void) {
  MPI_Request request;
  MPI_Grequest_start(query_nothing, free_nothing, cancel_nothing, NULL, &request);
  check_request(request, MQR_Grequest_start, 0);
  MPI_Grequest_complete(request);
  check_request(request, MQR_Grequest_start, MQR_TOLD_COMPLETE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  no_request();
  MPI_Grequest_start(query_nothing, free_nothing, cancel_nothing, NULL, &request);
  const MPI_Request freed = request;
  MPI_Request_free(&request);
  check_request(freed, MQR_Grequest_start, MQR_REQUEST_FREED);
  MPI_Grequest_complete(freed);
  no_request();
}

static void persistent_collectives(void) {
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  check_request(request, MQR_Barrier_init, MQR_PERSISTENT | MQR_INACTIVE);
  MPI_Request_free(&request); /* MPICH 4.0.2 does not always end one that is started */
  no_request();
#endif
}

static void window_requests(void) {
  int size = 0;
  MPI_Request request;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1)
    return; /* Open MPI has no window of one process without a transport for several */
  int memory = 0;
  int value = 1;
  MPI_Win window;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request);
  check_request(request, MQR_Rput, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(0, window);
  MPI_Win_free(&window);
  no_request();
}

/* The bits that only handles have, of the operation with the tag. */
static void check_bits(enum mqr_queue queue, int tag, uint32_t bits) {
  if (!is_recorded)
    return;
  const struct mqr_operation* const seen = recorded_operation("MPI_COMM_SELF", queue, tag);
  const uint32_t of_handles =
      MQR_CANCELLED | MQR_TOLD_COMPLETE | MQR_REQUEST_FREED | MQR_HAS_FORTRAN | MQR_IS_RECEIVING;
  REQUIRE(seen != NULL && (seen->flags & of_handles) == bits);
}

static void operations(void) {
  char sent = 1;
  char byte = 0;
  int flag = 0;
  MPI_Request receive, persistent, taken, send;
  MPI_Message message;
  MPI_Irecv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &receive);
  MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
  check_bits(MQR_RECEIVE, 1, 0);
  MPI_Send(&sent, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
  do
    MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
  while (!flag);
  check_bits(MQR_RECEIVE, 1, MQR_TOLD_COMPLETE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);

  MPI_Recv_init(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &persistent);
  MPI_Start(&persistent);
  MPI_Cancel(&persistent);
  check_bits(MQR_RECEIVE, 2, MQR_CANCELLED);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  check_bits(MQR_RECEIVE, 2, 0);
  MPI_Start(&persistent);
  check_bits(MQR_RECEIVE, 2, 0);
#ifdef OPEN_MPI
  const MPI_Fint fortran = MPI_Request_c2f(persistent);
  check_bits(MQR_RECEIVE, 2, MQR_HAS_FORTRAN);
  if (is_recorded)
    REQUIRE(recorded_operation("MPI_COMM_SELF", MQR_RECEIVE, 2)->fortran == fortran);
#endif
  MPI_Cancel(&persistent);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  MPI_Request_free(&persistent);

  MPI_Isend(&sent, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, &send);
  MPI_Mprobe(0, 3, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
  check_bits(MQR_UNEXPECTED, 3, 0);
  MPI_Imrecv(&byte, 1, MPI_CHAR, &message, &taken);
  check_bits(MQR_UNEXPECTED, 3, MQR_IS_RECEIVING);
  MPI_Wait(&taken, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);

  MPI_Irecv(&byte, 1, MPI_CHAR, 0, 4, MPI_COMM_SELF, &receive);
  MPI_Request_free(&receive);
  check_bits(MQR_RECEIVE, 4, MQR_REQUEST_FREED);
  MPI_Send(&sent, 1, MPI_CHAR, 0, 4, MPI_COMM_SELF);
}

/* MPI_STATUS fields lie where the recorder says. */
static void statuses(void) {
  if (!is_recorded)
    return;
  char bytes[5] = "four";
  char received[5];
  MPI_Status status;
  memset(&status, 0, sizeof status);
  MPI_Sendrecv(bytes, 4, MPI_CHAR, 0, 7, received, 5, MPI_CHAR, 0, 7, MPI_COMM_SELF, &status);
  const struct mqr_handles* const known = handles();
  const char* const raw = (const char*)&status;
  int tag = 0;
  memcpy(&tag, raw + known->status_tag, sizeof tag);
  REQUIRE(tag == 7 && known->status_size == sizeof status);
  int low = 0;
  memcpy(&low, raw + known->status_bytes, sizeof low);
  REQUIRE(known->status_kind != MQR_STATUS_UNKNOWN);
  REQUIRE(low == 4 || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  is_recorded = recorder() != NULL;
  predefined_handles();
  topologies();
  refused_free(); /* before attributes(): while MPI can be asked for all of them */
  attributes();
  errhandlers();
  errhandler_of_a_window();
  errhandler_of_a_file();
  left_by_a_jump();
  messages_of_nobody();
  other_requests();
  persistent_collectives();
  window_requests();
  operations();
  statuses();
  passed("handles");
  MPI_Finalize();
  return 0;
}
