#ifndef MQBRIDGE_DLL_HANDLES_MPICH_LAYOUT_H
#define MQBRIDGE_DLL_HANDLES_MPICH_LAYOUT_H

/* Where the fields of MPICH's objects (device ch3) are, by MPICH's own debug information: a library
 * that is built with --enable-debuginfo has types from src/mpi/debugger/dbginit.c, and a symbol
 * table that names its static arrays of objects. */

#include "dll/handles/reader.h"

/* FIELD(constant, type, field, bytes): 0 bytes: as many as an address has; -1: the field is no
 * number. */
#define MPICH_FIELDS                                                                               \
  FIELD(OBJECT_REFERENCES, "MPIR_Comm", "ref_count", 4)                                            \
  FIELD(COMM_CONTEXT, "MPIR_Comm", "context_id", 2)                                                \
  FIELD(COMM_RANK, "MPIR_Comm", "rank", 4)                                                         \
  FIELD(COMM_LOCAL_SIZE, "MPIR_Comm", "local_size", 4)                                             \
  FIELD(COMM_REMOTE_SIZE, "MPIR_Comm", "remote_size", 4)                                           \
  FIELD(COMM_KIND, "MPIR_Comm", "comm_kind", 4)                                                    \
  FIELD(COMM_NAME, "MPIR_Comm", "name", -1)                                                        \
  FIELD(COMM_ATTRIBUTES, "MPIR_Comm", "attributes", 0)                                             \
  FIELD(COMM_ERRHANDLER, "MPIR_Comm", "errhandler", 0)                                             \
  FIELD(COMM_LOCAL_COMM, "MPIR_Comm", "local_comm", 0)                                             \
  FIELD(COMM_NODE_COMM, "MPIR_Comm", "node_comm", 0)                                               \
  FIELD(COMM_NODE_ROOTS, "MPIR_Comm", "node_roots_comm", 0)                                        \
  FIELD(COMM_NEXT, "MPIR_Comm", "comm_next", 0)                                                    \
  FIELD(COMM_DEVICE, "MPIR_Comm", "dev", -1)                                                       \
  FIELD(DEVICE_MEMBERS, "MPIDI_CH3I_comm_t", "vcrt", 0)                                            \
  FIELD(DEVICE_LOCAL_MEMBERS, "MPIDI_CH3I_comm_t", "local_vcrt", 0)                                \
  FIELD(MEMBERS_SIZE, "MPIR_Group", "size", 4)                                                     \
  FIELD(ATTRIBUTE_KEYVAL, "MPIR_Attribute", "keyval", 0)                                           \
  FIELD(ATTRIBUTE_NEXT, "MPIR_Attribute", "next", 0)                                               \
  FIELD(ATTRIBUTE_VALUE, "MPIR_Attribute", "value", 0)                                             \
  FIELD(ERRHANDLER_LANGUAGE, "MPIR_Errhandler", "language", 4)                                     \
  FIELD(ERRHANDLER_KIND, "MPIR_Errhandler", "kind", 4)                                             \
  FIELD(ERRHANDLER_FUNCTION, "MPIR_Errhandler", "errfn", 0)                                        \
  FIELD(REQUEST_KIND, "MPIR_Request", "kind", 4)                                                   \
  FIELD(REQUEST_COUNTER, "MPIR_Request", "cc_ptr", 0)                                              \
  FIELD(REQUEST_COMM, "MPIR_Request", "comm", 0)                                                   \
  FIELD(REQUEST_STATUS, "MPIR_Request", "status", -1)                                              \
  FIELD(REQUEST_OF_KIND, "MPIR_Request", "u", -1)                                                  \
  FIELD(REQUEST_DEVICE, "MPIR_Request", "dev", -1)                                                 \
  FIELD(DEVICE_MATCH, "MPIDI_Request", "match", -1)                                                \
  FIELD(DEVICE_BUFFER, "MPIDI_Request", "user_buf", 0)                                             \
  FIELD(DEVICE_COUNT, "MPIDI_Request", "user_count", 0)                                            \
  FIELD(DEVICE_DATATYPE, "MPIDI_Request", "datatype", 4)                                           \
  FIELD(MATCH_TAG, "MPIDI_Message_match_parts_t", "tag", 4)                                        \
  FIELD(MATCH_RANK, "MPIDI_Message_match_parts_t", "rank", 2)                                      \
  FIELD(SEND_REQUEST, "MPIR_Sendq", "sreq", 0)                                                     \
  FIELD(SEND_TAG, "MPIR_Sendq", "tag", 4)                                                          \
  FIELD(SEND_RANK, "MPIR_Sendq", "rank", 4)                                                        \
  FIELD(STATUS_COUNT_LOW, "MPI_Status", "count_lo", 4)                                             \
  FIELD(STATUS_COUNT_HIGH, "MPI_Status", "count_hi_and_cancelled", 4)                              \
  FIELD(STATUS_SOURCE, "MPI_Status", "MPI_SOURCE", 4)                                              \
  FIELD(STATUS_TAG, "MPI_Status", "MPI_TAG", 4)                                                    \
  FIELD(STATUS_ERROR, "MPI_Status", "MPI_ERROR", 4)

enum mpich_field {
#define FIELD(constant, type, field, bytes) constant,
  MPICH_FIELDS
#undef FIELD
      MPICH_FIELD_COUNT
};

/* MPII_Object_kind, which a handle has in it (src/include/mpir_objects.h). */
enum { MPICH_COMM = 1, MPICH_FILE = 4, MPICH_ERRHANDLER = 5, MPICH_WINDOW = 8, MPICH_REQUEST = 11 };

/* Objects of one kind: an array of the objects that MPI predefines, an array of the first ones that
 * a program makes, and blocks of the others. */
struct mpich_pool {
  int kind;
  int object_size;                   /* 0: these objects cannot be found */
  mqs_taddr_t builtin, direct;       /* addresses of the arrays */
  int builtins, directs;             /* objects there */
  mqs_taddr_t blocks;                /* array of addresses of blocks */
  int block_count, block_size;       /* block_size in objects */
  unsigned block_mask, builtin_mask; /* of a handle */
};

/* What the reader keeps with a process. */
struct mpich {
  int offsets[MPICH_FIELD_COUNT]; /* -1: not known */
  struct mpich_pool comms, errhandlers, requests;
  int knows_kinds; /* of requests: they are numbered as in MPICH 4.0 */
  /* Addresses of the communicators of all requests, read when somebody first asks for them. NULL:
   * nobody has asked, or they cannot be read. */
  mqs_taddr_t* holders;
  int holder_count;
};

enum {
  MPICH_COMM_WORLD = 0x44000000,
  MPICH_COMM_SELF = 0x44000001,
  MPICH_COMM_NULL = 0x04000000,
  MPICH_ERRORS_ARE_FATAL = 0x54000000,
  MPICH_ERRORS_RETURN = 0x54000001,
  MPICH_ERRHANDLER_NULL = 0x14000000,
  MPICH_REQUEST_NULL = 0x2c000000,
  MPICH_STATUS_IGNORE = 1
};

/* MPIDBG_ERR_UNAVAILABLE: its communicators cannot be told. */
int mpich_open(const mqs_process_info* process, void** state);

/* The address of a field; 0: not known. */
mqs_taddr_t mpich_at(const struct mpich* mpich, mqs_taddr_t object, enum mpich_field field);
/* An integer with its sign; an address. 1 if it was read, else 0. */
int mpich_int(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t object,
              enum mpich_field field, int* value);
int mpich_word(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t object,
               enum mpich_field field, uint64_t* value);

/* The living object whose own field says that this is its handle. MPIDBG_ERR_NOT_FOUND: there is
 * none; MPIDBG_ERR_UNAVAILABLE: that cannot be read. */
int mpich_find(const mqs_process_info* process, const struct mpich* mpich,
               const struct mpich_pool* pool, mqs_taddr_t handle, mqs_taddr_t* object);
/* The same; 0: not found, or not readable. */
mqs_taddr_t mpich_object(const mqs_process_info* process, const struct mpich* mpich,
                         const struct mpich_pool* pool, mqs_taddr_t handle);
/* The handle that the object at `object` has in its own field; 0: not known. */
mqs_taddr_t mpich_handle(const mqs_process_info* process, mqs_taddr_t object);
/* Adds the handles of all living objects. MPIDBG_ERR_UNAVAILABLE: some cannot be read. */
int mpich_list(const mqs_process_info* process, const struct mpich* mpich,
               const struct mpich_pool* pool, struct handle_list* list);

int mpich_comm(const mqs_process_info* process, void* state, struct comm_answer* answer);
int mpich_comms(const mqs_process_info* process, const struct mpich* mpich,
                struct handle_list* list);
/* Topology and attributes of the communicator at `comm`. */
void mpich_attributes(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t comm,
                      struct comm_answer* answer);
void mpich_topology(const mqs_process_info* process, mqs_taddr_t topology,
                    struct comm_answer* answer);
int mpich_request(const mqs_process_info* process, void* state, struct request_answer* answer);
int mpich_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                 struct status_answer* answer);

#endif
