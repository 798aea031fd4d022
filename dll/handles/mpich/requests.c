/* An MPI_Request is an integer: place and index of an MPIR_Request. The arguments of the program's
 * call are in the part of device ch3. */

#include "dll/handles/mpich/layout.h"

#include <string.h>

/* MPIR_Request_kind_t of MPICH 4.0. */
enum kind {
  KIND_UNDEFINED,
  KIND_SEND,
  KIND_RECEIVE,
  KIND_PERSISTENT_SEND,
  KIND_PERSISTENT_RECEIVE,
  KIND_PERSISTENT_COLLECTIVE,
  KIND_PARTITIONED_SEND,
  KIND_PARTITIONED_RECEIVE,
  KIND_PARTITION,
  KIND_GENERALIZED,
  KIND_COLLECTIVE,
  KIND_MATCHED_PROBE,
  KIND_RMA
};
enum { PLACE_SHIFT = 30, BUILTIN = 1 };   /* of a handle */
enum { ANY_SOURCE = -2, PROC_NULL = -1 }; /* as mpi.h of MPICH has them */

struct request {
  const mqs_process_info* process;
  const struct mpich* mpich;
  mqs_taddr_t at;
  mqs_taddr_t started; /* the request that the start of a persistent one made; 0: not started */
  int kind, persistent, counter;
};

static int kind_of(int kind) {
  switch (kind) {
  case KIND_SEND:
  case KIND_PERSISTENT_SEND:
  case KIND_PARTITIONED_SEND:
    return MPIDBG_REQUEST_SEND;
  case KIND_RECEIVE:
  case KIND_PERSISTENT_RECEIVE:
  case KIND_PARTITIONED_RECEIVE:
    return MPIDBG_REQUEST_RECEIVE;
  case KIND_COLLECTIVE:
  case KIND_PERSISTENT_COLLECTIVE:
    return MPIDBG_REQUEST_COLLECTIVE;
  case KIND_GENERALIZED:
    return MPIDBG_REQUEST_GENERALIZED;
  case KIND_RMA:
    return MPIDBG_REQUEST_RMA;
  default:
    return MPIDBG_REQUEST_UNKNOWN;
  }
}

static int is_point_to_point(const struct request* request) {
  return request->kind >= KIND_SEND && request->kind <= KIND_PERSISTENT_RECEIVE;
}

static int is_receive(const struct request* request) {
  return request->kind == KIND_RECEIVE || request->kind == KIND_PERSISTENT_RECEIVE;
}

/* The fields of each kind share a union. In a persistent request the debugger's link stands in
 * front of the field. */
static int find_started(struct request* request) {
  const mqs_taddr_t of_kind = mpich_at(request->mpich, request->at, REQUEST_OF_KIND);
  const unsigned word = (unsigned)request->process->target.address_size;
  const int is_collective = request->kind == KIND_PERSISTENT_COLLECTIVE;
  return of_kind != 0 &&
         handles_pointer(request->process, of_kind + (is_collective ? 0 : word), &request->started);
}

/* Returns a code of the interface. */
static int read_request(struct request* request) {
  mqs_taddr_t counter = 0;
  if (!mpich_int(request->process, request->mpich, request->at, REQUEST_KIND, &request->kind))
    return MPIDBG_ERR_UNAVAILABLE;
  if (request->kind <= KIND_UNDEFINED || request->kind > KIND_RMA)
    return MPIDBG_ERR_NOT_FOUND;
  request->persistent =
      request->kind >= KIND_PERSISTENT_SEND && request->kind <= KIND_PARTITIONED_RECEIVE;
  const int is_started_elsewhere =
      request->persistent && request->kind <= KIND_PERSISTENT_COLLECTIVE;
  if ((is_started_elsewhere && !find_started(request)) ||
      !mpich_word(request->process, request->mpich, request->at, REQUEST_COUNTER, &counter) ||
      !handles_int(request->process, counter, &request->counter))
    return MPIDBG_ERR_UNAVAILABLE;
  return MPIDBG_SUCCESS;
}

/* A pending operation has a reference, and so has the program's handle. */
static int is_freed(const struct request* request) {
  int references = 0;
  return (request->kind == KIND_SEND || request->kind == KIND_RECEIVE ||
          request->kind == KIND_GENERALIZED) &&
         mpich_int(request->process, request->mpich, request->at, OBJECT_REFERENCES, &references) &&
         references == 1;
}

static int state_of(const struct request* request) {
  const int is_partitioned =
      request->kind >= KIND_PARTITIONED_SEND && request->kind <= KIND_PARTITION;
  if (is_partitioned)
    return MPIDBG_STATE_UNKNOWN;
  if (request->persistent && request->started == 0)
    return MPIDBG_STATE_INACTIVE;
  if (request->counter == 0)
    return MPIDBG_STATE_COMPLETE;
  return is_freed(request) ? MPIDBG_STATE_FREED : MPIDBG_STATE_ACTIVE;
}

/* MPICH keeps the envelope of a pending send for debuggers alone: the send's other fields are set
 * only where the protocol needs them. */
static int read_send(const struct request* request, int* rank, int* tag) {
  const struct mpich* const mpich = request->mpich;
  mqs_taddr_t send = 0;
  mqs_taddr_t owner = 0;
  return request->kind == KIND_SEND &&
         handles_pointer(request->process, mpich_at(mpich, request->at, REQUEST_OF_KIND), &send) &&
         mpich_word(request->process, mpich, send, SEND_REQUEST, &owner) && owner == request->at &&
         mpich_int(request->process, mpich, send, SEND_RANK, rank) &&
         mpich_int(request->process, mpich, send, SEND_TAG, tag);
}

static int read_match(const struct request* request, int* rank, int* tag) {
  const struct mpich* const mpich = request->mpich;
  const mqs_taddr_t device = mpich_at(mpich, request->at, REQUEST_DEVICE);
  const mqs_taddr_t match = mpich_at(mpich, device, DEVICE_MATCH);
  return request->kind != KIND_SEND &&
         mpich_int(request->process, mpich, match, MATCH_RANK, rank) &&
         mpich_int(request->process, mpich, match, MATCH_TAG, tag);
}

static void add_peer(const struct request* request, struct mpidbg_request_description* more) {
  int rank = 0;
  int tag = 0;
  if (!read_send(request, &rank, &tag) && !read_match(request, &rank, &tag))
    return;
  more->peer = rank == ANY_SOURCE ? MPIDBG_ANY_SOURCE : rank == PROC_NULL ? MPIDBG_PROC_NULL : rank;
  more->tag = tag; /* MPI_ANY_TAG is -1 */
  more->known |= MPIDBG_KNOWN_PEER | MPIDBG_KNOWN_TAG;
}

/* Basic datatypes have their size in the handle. Their numbers are those of mpi.h. */
static const struct {
  unsigned handle;
  const char* name;
} basic_types[] = {
    {0x4c000101, "MPI_CHAR"},
    {0x4c000118, "MPI_SIGNED_CHAR"},
    {0x4c000102, "MPI_UNSIGNED_CHAR"},
    {0x4c00010d, "MPI_BYTE"},
    {0x4c00040e, "MPI_WCHAR"},
    {0x4c000203, "MPI_SHORT"},
    {0x4c000204, "MPI_UNSIGNED_SHORT"},
    {0x4c000405, "MPI_INT"},
    {0x4c000406, "MPI_UNSIGNED"},
    {0x4c000407, "MPI_LONG"},
    {0x4c000807, "MPI_LONG"},
    {0x4c000408, "MPI_UNSIGNED_LONG"},
    {0x4c000808, "MPI_UNSIGNED_LONG"},
    {0x4c00040a, "MPI_FLOAT"},
    {0x4c00080b, "MPI_DOUBLE"},
    {0x4c00100c, "MPI_LONG_DOUBLE"},
    {0x4c000c0c, "MPI_LONG_DOUBLE"},
    {0x4c000809, "MPI_LONG_LONG_INT"},
    {0x4c000819, "MPI_UNSIGNED_LONG_LONG"},
    {0x4c00010f, "MPI_PACKED"},
    {0x4c000137, "MPI_INT8_T"},
    {0x4c000238, "MPI_INT16_T"},
    {0x4c000439, "MPI_INT32_T"},
    {0x4c00083a, "MPI_INT64_T"},
    {0x4c00013b, "MPI_UINT8_T"},
    {0x4c00023c, "MPI_UINT16_T"},
    {0x4c00043d, "MPI_UINT32_T"},
    {0x4c00083e, "MPI_UINT64_T"},
    {0x4c00013f, "MPI_C_BOOL"},
    {0x4c000840, "MPI_C_COMPLEX"},
    {0x4c001041, "MPI_C_DOUBLE_COMPLEX"},
    {0x4c000843, "MPI_AINT"},
};

static void add_datatype(const struct request* request, mqs_taddr_t device,
                         struct mpidbg_request_description* more) {
  enum { BASIC = 0x4c, SIZE_SHIFT = 8, SIZE_BITS = 0xff, KIND_SHIFT = 24 };
  uint64_t datatype = 0;
  if (!mpich_word(request->process, request->mpich, device, DEVICE_DATATYPE, &datatype) ||
      datatype >> KIND_SHIFT != BASIC)
    return;
  for (size_t i = 0; i < sizeof basic_types / sizeof *basic_types; ++i)
    if (basic_types[i].handle == datatype)
      strncpy(more->datatype, basic_types[i].name, sizeof more->datatype - 1);
  const uint64_t element = datatype >> SIZE_SHIFT & SIZE_BITS;
  if ((more->known & MPIDBG_KNOWN_COUNT) != 0 &&
      !__builtin_mul_overflow(more->count, element, &more->bytes))
    more->known |= MPIDBG_KNOWN_BYTES;
}

/* For a send that is not persistent the buffer is set only if it waits for the receiver: then the
 * send has a datatype. */
static void add_buffer(const struct request* request, struct mpidbg_request_description* more) {
  const struct mpich* const mpich = request->mpich;
  const mqs_taddr_t device = mpich_at(mpich, request->at, REQUEST_DEVICE);
  if (request->kind == KIND_SEND && request->counter == 0)
    return;
  if (mpich_word(request->process, mpich, device, DEVICE_BUFFER, &more->buffer))
    more->known |= MPIDBG_KNOWN_BUFFER;
  if (mpich_word(request->process, mpich, device, DEVICE_COUNT, &more->count))
    more->known |= MPIDBG_KNOWN_COUNT;
  add_datatype(request, device, more);
}

static int read_status(const mqs_process_info* process, const struct mpich* mpich,
                       mqs_taddr_t address, struct mpidbg_status_description* status) {
  uint64_t low = 0;
  uint64_t high = 0;
  if (!mpich_int(process, mpich, address, STATUS_SOURCE, &status->source) ||
      !mpich_int(process, mpich, address, STATUS_TAG, &status->tag) ||
      !mpich_int(process, mpich, address, STATUS_ERROR, &status->error) ||
      !mpich_word(process, mpich, address, STATUS_COUNT_LOW, &low) ||
      !mpich_word(process, mpich, address, STATUS_COUNT_HIGH, &high))
    return 0;
  if (status->source == ANY_SOURCE || status->source == PROC_NULL)
    status->source = status->source == ANY_SOURCE ? MPIDBG_ANY_SOURCE : MPIDBG_PROC_NULL;
  status->bytes = high >> 1 << 32 | low;
  status->cancelled = (high & 1) != 0;
  return 1;
}

static void add_completion(const struct request* request, struct mpidbg_request_description* more) {
  struct mpidbg_status_description status = {0};
  const mqs_taddr_t completed = request->persistent ? request->started : request->at;
  if (more->state != MPIDBG_STATE_COMPLETE ||
      !read_status(request->process, request->mpich,
                   mpich_at(request->mpich, completed, REQUEST_STATUS), &status))
    return;
  more->error = status.error;
  more->cancelled = status.cancelled;
  more->known |= MPIDBG_KNOWN_ERROR | MPIDBG_KNOWN_CANCELLED;
  if (!is_receive(request) || status.cancelled)
    return;
  more->actual_source = status.source;
  more->actual_tag = status.tag;
  more->actual_bytes = status.bytes;
  more->known |= MPIDBG_KNOWN_ACTUAL | MPIDBG_KNOWN_ACTUAL_BYTES;
}

int mpich_request(const mqs_process_info* process, void* state, struct request_answer* answer) {
  const struct mpich* const mpich = state;
  struct mpidbg_request_description* const more = &answer->more;
  struct request request = {.process = process, .mpich = mpich};
  mqs_taddr_t comm = 0;
  more->fortran_handle = (int32_t)(uint32_t)more->handle;
  more->known = MPIDBG_KNOWN_FORTRAN;
  if (more->handle == MPICH_REQUEST_NULL) {
    answer->flags = MPIDBG_REQUEST_INFO_PREDEFINED;
    more->kind = MPIDBG_REQUEST_NULL;
    return MPIDBG_SUCCESS;
  }
  int code = mpich_find(process, mpich, &mpich->requests, more->handle, &request.at);
  if (code == MPIDBG_SUCCESS)
    code = mpich->knows_kinds ? read_request(&request) : MPIDBG_ERR_UNAVAILABLE;
  if (code != MPIDBG_SUCCESS)
    return code;
  more->kind = kind_of(request.kind);
  more->state = state_of(&request);
  more->persistent = request.persistent;
  more->known |= MPIDBG_KNOWN_PERSISTENT;
  if (more->handle >> PLACE_SHIFT == BUILTIN)
    answer->flags = MPIDBG_REQUEST_INFO_PREDEFINED;
  if (mpich_word(process, mpich, request.at, REQUEST_COMM, &comm) && comm != 0) {
    more->comm = mpich_handle(process, comm);
    if (mpich_object(process, mpich, &mpich->comms, more->comm) == comm)
      more->known |= MPIDBG_KNOWN_COMM;
  }
  if (is_point_to_point(&request)) {
    add_peer(&request, more);
    add_buffer(&request, more);
  }
  add_completion(&request, more);
  return MPIDBG_SUCCESS;
}

int mpich_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                 struct status_answer* answer) {
  struct mpidbg_status_description* const more = &answer->more;
  if (address == MPICH_STATUS_IGNORE) {
    answer->flags = MPIDBG_STATUS_INFO_PREDEFINED;
    return MPIDBG_SUCCESS;
  }
  const struct mpich* const mpich = state;
  if (!read_status(process, mpich, address, more))
    return MPIDBG_ERR_UNAVAILABLE;
  more->known =
      MPIDBG_KNOWN_ACTUAL | MPIDBG_KNOWN_ACTUAL_BYTES | MPIDBG_KNOWN_ERROR | MPIDBG_KNOWN_CANCELLED;
  return MPIDBG_SUCCESS;
}
