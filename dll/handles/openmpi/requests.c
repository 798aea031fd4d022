/* An MPI_Request is the address of an ompi_request_t, with which the requests of all kinds begin.
 */

#include "dll/handles/openmpi/objects.h"

/* ompi/request/request_dbg.h */
enum type {
  TYPE_POINT_TO_POINT,
  TYPE_IO,
  TYPE_GENERALIZED,
  TYPE_WINDOW,
  TYPE_COLLECTIVE,
  TYPE_NULL,
  TYPE_NOTHING, /* persistent, with MPI_PROC_NULL */
  TYPE_COMMUNICATOR
};
enum state { STATE_INVALID, STATE_INACTIVE, STATE_ACTIVE, STATE_CANCELLED };
/* ompi/request/request.h: this value of req_complete means completed. Other values mean pending, or
 * are the address of a waiting call's object. */
enum { COMPLETED = 1 };
/* ompi/mca/pml/base/pml_base_request_dbg.h */
enum { PML_SEND = 1, PML_RECEIVE = 2 };
/* MPI_Request_c2f was never called for it (MPI_UNDEFINED). */
enum { NO_FORTRAN_HANDLE = -32766 };

struct request {
  const mqs_process_info* process;
  const struct openmpi* openmpi;
  mqs_taddr_t handle;
  int type, state, persistent, completed;
};

static int read_request(struct request* request) {
  const mqs_process_info* const process = request->process;
  const struct openmpi* const openmpi = request->openmpi;
  uint64_t complete = 0;
  uint64_t persistent = 0;
  if (!openmpi_int(process, openmpi, request->handle, REQUEST_TYPE, &request->type) ||
      !openmpi_int(process, openmpi, request->handle, REQUEST_STATE, &request->state) ||
      !openmpi_word(process, openmpi, request->handle, REQUEST_COMPLETE, &complete) ||
      !openmpi_word(process, openmpi, request->handle, REQUEST_PERSISTENT, &persistent))
    return 0;
  request->completed = complete == COMPLETED;
  request->persistent = persistent != 0;
  return 1;
}

static int kind_of(int type) {
  switch (type) {
  case TYPE_IO:
    return MPIDBG_REQUEST_IO;
  case TYPE_GENERALIZED:
    return MPIDBG_REQUEST_GENERALIZED;
  case TYPE_WINDOW:
    return MPIDBG_REQUEST_RMA;
  case TYPE_COLLECTIVE:
    return MPIDBG_REQUEST_COLLECTIVE;
  case TYPE_COMMUNICATOR:
    return MPIDBG_REQUEST_COMM;
  default:
    return MPIDBG_REQUEST_UNKNOWN; /* the transport's part tells the kind of point-to-point ones */
  }
}

static int state_of(const struct request* request) {
  if (request->persistent && request->state == STATE_INACTIVE)
    return MPIDBG_STATE_INACTIVE;
  return request->completed ? MPIDBG_STATE_COMPLETE : MPIDBG_STATE_ACTIVE;
}

static int is(const struct request* request, enum openmpi_symbol class) {
  return openmpi_is(request->process, request->openmpi, request->handle, class);
}

static int number(const struct request* request, enum openmpi_field field, int32_t* value) {
  int read = 0;
  if (!openmpi_int(request->process, request->openmpi, request->handle, field, &read))
    return 0;
  *value = read;
  return 1;
}

static int word(const struct request* request, enum openmpi_field field, uint64_t* value) {
  return openmpi_word(request->process, request->openmpi, request->handle, field, value);
}

static void add_datatype(const struct request* request, struct mpidbg_request_description* more) {
  mqs_taddr_t datatype = 0;
  uint64_t element = 0;
  if (!word(request, PML_DATATYPE, &datatype))
    return;
  handles_string(request->process, openmpi_at(request->openmpi, datatype, DATATYPE_NAME),
                 more->datatype, sizeof more->datatype);
  if ((more->known & MPIDBG_KNOWN_COUNT) != 0 &&
      openmpi_word(request->process, request->openmpi, datatype, DATATYPE_SIZE, &element) &&
      !__builtin_mul_overflow(more->count, element, &more->bytes))
    more->known |= MPIDBG_KNOWN_BYTES;
}

/* Adds the arguments of the program's call, which a persistent request keeps while inactive. */
static void add_envelope(const struct request* request, struct mpidbg_request_description* more) {
  if (word(request, PML_COMM, &more->comm))
    more->known |= MPIDBG_KNOWN_COMM;
  if (number(request, PML_PEER, &more->peer))
    more->known |= MPIDBG_KNOWN_PEER;
  if (number(request, PML_TAG, &more->tag))
    more->known |= MPIDBG_KNOWN_TAG;
  if (word(request, PML_COUNT, &more->count))
    more->known |= MPIDBG_KNOWN_COUNT;
  if (word(request, PML_BUFFER, &more->buffer))
    more->known |= MPIDBG_KNOWN_BUFFER;
  add_datatype(request, more);
}

/* The address of the request's status. The status tells something once the request is complete, and
 * about the message that a receive has met. */
static mqs_taddr_t status_of(const struct request* request) {
  return openmpi_at(request->openmpi, request->handle, REQUEST_STATUS);
}

static void add_completion(const struct request* request, struct mpidbg_request_description* more) {
  const mqs_taddr_t status = status_of(request);
  int error = 0;
  int cancelled = 0;
  if (more->state == MPIDBG_STATE_COMPLETE &&
      openmpi_int(request->process, request->openmpi, status, STATUS_ERROR, &error)) {
    more->error = error;
    more->known |= MPIDBG_KNOWN_ERROR;
  }
  /* The status of a generalized request is the program's: MPI asks for it only when the request is
   * waited for. */
  if (more->kind != MPIDBG_REQUEST_GENERALIZED && more->state != MPIDBG_STATE_INACTIVE &&
      openmpi_int(request->process, request->openmpi, status, STATUS_CANCELLED, &cancelled)) {
    more->cancelled = cancelled != 0 || request->state == STATE_CANCELLED;
    more->known |= MPIDBG_KNOWN_CANCELLED;
  }
}

static int has_met_its_message(const struct request* request,
                               const struct mpidbg_request_description* more) {
  uint64_t matched = 0;
  if (more->state == MPIDBG_STATE_COMPLETE)
    return (more->known & MPIDBG_KNOWN_CANCELLED) != 0 && !more->cancelled;
  return (more->state == MPIDBG_STATE_ACTIVE || more->state == MPIDBG_STATE_FREED) &&
         is(request, CLASS_OB1_RECEIVE) && word(request, OB1_MATCHED, &matched) && matched != 0;
}

static void add_message(const struct request* request, struct mpidbg_request_description* more) {
  const mqs_process_info* const process = request->process;
  const struct openmpi* const openmpi = request->openmpi;
  const mqs_taddr_t status = status_of(request);
  if (!has_met_its_message(request, more))
    return;
  if (openmpi_int(process, openmpi, status, STATUS_SOURCE, &more->actual_source) &&
      openmpi_int(process, openmpi, status, STATUS_TAG, &more->actual_tag))
    more->known |= MPIDBG_KNOWN_ACTUAL;
  if (more->state == MPIDBG_STATE_COMPLETE &&
      openmpi_word(process, openmpi, status, STATUS_BYTES, &more->actual_bytes))
    more->known |= MPIDBG_KNOWN_ACTUAL_BYTES;
}

/* Some transports (UCX) have requests without a part of this class: they keep the arguments to
 * themselves, and whether the request was freed. */
static void add_point_to_point(const struct request* request, struct request_answer* answer) {
  struct mpidbg_request_description* const more = &answer->more;
  int type = 0;
  int freed = 0;
  if (!is(request, CLASS_PML_REQUEST) || !number(request, PML_TYPE, &type)) {
    if (more->state == MPIDBG_STATE_ACTIVE)
      more->state = MPIDBG_STATE_UNKNOWN;
    return;
  }
  if (type == PML_SEND)
    more->kind = MPIDBG_REQUEST_SEND;
  else if (type == PML_RECEIVE)
    more->kind = MPIDBG_REQUEST_RECEIVE;
  if (number(request, PML_FREED, &freed) && freed != 0)
    more->state = MPIDBG_STATE_FREED;
  add_envelope(request, more);
  /* The request is part of a collective: tags of programs are not negative. */
  if ((more->known & MPIDBG_KNOWN_TAG) != 0 && more->tag < MPIDBG_ANY_TAG)
    answer->flags |= MPIDBG_REQUEST_INFO_PREDEFINED;
}

/* The program's handle holds one reference to a generalized request, and so does the operation. */
static void add_generalized(const struct request* request,
                            struct mpidbg_request_description* more) {
  int32_t references = 0;
  if (more->state == MPIDBG_STATE_ACTIVE && number(request, OBJECT_REFERENCES, &references) &&
      references < 2)
    more->state = MPIDBG_STATE_FREED;
}

static void add_communicator(const struct request* request,
                             struct mpidbg_request_description* more) {
  mqs_taddr_t comm = 0;
  if (word(request, REQUEST_OBJECT, &comm) &&
      openmpi_is(request->process, request->openmpi, comm, CLASS_COMM)) {
    more->comm = comm;
    more->known |= MPIDBG_KNOWN_COMM;
  }
}

static void describe(const struct request* request, struct request_answer* answer) {
  struct mpidbg_request_description* const more = &answer->more;
  int32_t fortran = 0;
  if (number(request, REQUEST_FORTRAN, &fortran) && fortran != NO_FORTRAN_HANDLE) {
    more->fortran_handle = fortran;
    more->known |= MPIDBG_KNOWN_FORTRAN;
  }
  more->kind = kind_of(request->type);
  more->state = state_of(request);
  more->persistent = request->persistent;
  more->known |= MPIDBG_KNOWN_PERSISTENT;
  if (request->type == TYPE_POINT_TO_POINT)
    add_point_to_point(request, answer);
  if (request->type == TYPE_GENERALIZED)
    add_generalized(request, more);
  if (request->type == TYPE_COLLECTIVE)
    add_communicator(request, more);
  add_completion(request, more);
  if (more->kind == MPIDBG_REQUEST_RECEIVE)
    add_message(request, more);
}

int openmpi_find_request(const mqs_process_info* process, const struct openmpi* openmpi,
                         struct request_answer* answer) {
  struct request request = {.process = process, .openmpi = openmpi, .handle = answer->more.handle};
  if (openmpi->offsets[REQUEST_TYPE] < 0)
    return MPIDBG_ERR_UNAVAILABLE;
  const int code = openmpi_check(process, openmpi, request.handle, CLASS_REQUEST);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (!read_request(&request))
    return MPIDBG_ERR_UNAVAILABLE;
  if (request.state == STATE_INVALID)
    return MPIDBG_ERR_NOT_FOUND;
  describe(&request, answer);
  if (request.type != TYPE_NULL)
    return MPIDBG_SUCCESS;
  /* It is MPI_REQUEST_NULL, or the request that all operations with MPI_PROC_NULL get. */
  answer->flags = MPIDBG_REQUEST_INFO_PREDEFINED;
  if (request.handle == openmpi->symbols[REQUEST_NULL]) {
    answer->more.kind = MPIDBG_REQUEST_NULL;
    answer->more.state = MPIDBG_STATE_UNKNOWN;
    answer->more.known &= MPIDBG_KNOWN_FORTRAN;
  }
  return MPIDBG_SUCCESS;
}

int openmpi_request(const mqs_process_info* process, void* state, struct request_answer* answer) {
  return openmpi_find_request(process, state, answer);
}

/* An MPI_Status is an ompi_status_public_t in the program's memory. */
int openmpi_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                   struct status_answer* answer) {
  const struct openmpi* const openmpi = state;
  struct mpidbg_status_description* const more = &answer->more;
  int cancelled = 0;
  if (address == 0) { /* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE */
    answer->flags = MPIDBG_STATUS_INFO_PREDEFINED;
    return MPIDBG_SUCCESS;
  }
  if (!openmpi_int(process, openmpi, address, STATUS_SOURCE, &more->source) ||
      !openmpi_int(process, openmpi, address, STATUS_TAG, &more->tag) ||
      !openmpi_int(process, openmpi, address, STATUS_ERROR, &more->error))
    return MPIDBG_ERR_UNAVAILABLE;
  more->known = MPIDBG_KNOWN_ACTUAL | MPIDBG_KNOWN_ERROR;
  if (openmpi_word(process, openmpi, address, STATUS_BYTES, &more->bytes))
    more->known |= MPIDBG_KNOWN_ACTUAL_BYTES;
  if (openmpi_int(process, openmpi, address, STATUS_CANCELLED, &cancelled))
    more->known |= MPIDBG_KNOWN_CANCELLED;
  more->cancelled = cancelled != 0;
  return MPIDBG_SUCCESS;
}
