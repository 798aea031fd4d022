#ifndef MQBRIDGE_DLL_HANDLES_OPENMPI_LAYOUT_H
#define MQBRIDGE_DLL_HANDLES_OPENMPI_LAYOUT_H

/* Where the fields of Open MPI's objects are, by the types that the host knows; and tables of such
 * objects. */

#include "dll/handles/reader.h"

/* FIELD(constant, type, field, bytes). 0 bytes: as many as an address has; -1: it is no integer. A
 * type's offsets are only believed if the size that the host knows is the one that the library
 * states. */
#define OPENMPI_FIELDS                                                                             \
  FIELD(OBJECT_CLASS, "opal_object_t", "obj_class", 0)                                             \
  FIELD(OBJECT_REFERENCES, "opal_object_t", "obj_reference_count", 4)                              \
  FIELD(ARRAY_SIZE, "opal_pointer_array_t", "size", 4)                                             \
  FIELD(ARRAY_ADDRESS, "opal_pointer_array_t", "addr", 0)                                          \
  FIELD(COMM_NAME, "ompi_communicator_t", "c_name", -1)                                            \
  FIELD(COMM_CONTEXT, "ompi_communicator_t", "c_contextid", 4)                                     \
  FIELD(COMM_INDEX, "ompi_communicator_t", "c_index", 4)                                           \
  FIELD(COMM_RANK, "ompi_communicator_t", "c_my_rank", 4)                                          \
  FIELD(COMM_FLAGS, "ompi_communicator_t", "c_flags", 4)                                           \
  FIELD(COMM_LOCAL_GROUP, "ompi_communicator_t", "c_local_group", 0)                               \
  FIELD(COMM_REMOTE_GROUP, "ompi_communicator_t", "c_remote_group", 0)                             \
  FIELD(COMM_ATTRIBUTES, "ompi_communicator_t", "c_keyhash", 0)                                    \
  FIELD(COMM_TOPOLOGY, "ompi_communicator_t", "c_topo", 0)                                         \
  FIELD(COMM_FORTRAN, "ompi_communicator_t", "c_f_to_c_index", 4)                                  \
  FIELD(COMM_ERRHANDLER, "ompi_communicator_t", "error_handler", 0)                                \
  FIELD(GROUP_SIZE, "ompi_group_t", "grp_proc_count", 4)                                           \
  FIELD(GROUP_PROCESSES, "ompi_group_t", "grp_proc_pointers", 0)                                   \
  FIELD(PROCESS_NAME, "opal_proc_t", "proc_name", -1)                                              \
  FIELD(TOPOLOGY_MODULE, "mca_topo_base_module_t", "mtc", 0)                                       \
  FIELD(TOPOLOGY_REORDERED, "mca_topo_base_module_t", "reorder", 1)                                \
  FIELD(CART_NUM_DIMS, "mca_topo_base_comm_cart_2_2_0_t", "ndims", 4)                              \
  FIELD(CART_DIMS, "mca_topo_base_comm_cart_2_2_0_t", "dims", 0)                                   \
  FIELD(CART_PERIODS, "mca_topo_base_comm_cart_2_2_0_t", "periods", 0)                             \
  FIELD(GRAPH_NUM_NODES, "mca_topo_base_comm_graph_2_2_0_t", "nnodes", 4)                          \
  FIELD(GRAPH_INDEX, "mca_topo_base_comm_graph_2_2_0_t", "index", 0)                               \
  FIELD(GRAPH_EDGES, "mca_topo_base_comm_graph_2_2_0_t", "edges", 0)                               \
  FIELD(NEIGHBORS_IN, "mca_topo_base_comm_dist_graph_2_2_0_t", "in", 0)                            \
  FIELD(NEIGHBORS_IN_WEIGHTS, "mca_topo_base_comm_dist_graph_2_2_0_t", "inw", 0)                   \
  FIELD(NEIGHBORS_OUT, "mca_topo_base_comm_dist_graph_2_2_0_t", "out", 0)                          \
  FIELD(NEIGHBORS_OUT_WEIGHTS, "mca_topo_base_comm_dist_graph_2_2_0_t", "outw", 0)                 \
  FIELD(NEIGHBORS_NUM_IN, "mca_topo_base_comm_dist_graph_2_2_0_t", "indegree", 4)                  \
  FIELD(NEIGHBORS_NUM_OUT, "mca_topo_base_comm_dist_graph_2_2_0_t", "outdegree", 4)                \
  FIELD(NEIGHBORS_WEIGHTED, "mca_topo_base_comm_dist_graph_2_2_0_t", "weighted", 1)                \
  FIELD(HASH_TABLE, "opal_hash_table_t", "ht_table", 0)                                            \
  FIELD(HASH_CAPACITY, "opal_hash_table_t", "ht_capacity", 0)                                      \
  FIELD(HASH_SIZE, "opal_hash_table_t", "ht_size", 0)                                              \
  FIELD(REQUEST_TYPE, "ompi_request_t", "req_type", 4)                                             \
  FIELD(REQUEST_STATUS, "ompi_request_t", "req_status", -1)                                        \
  FIELD(REQUEST_COMPLETE, "ompi_request_t", "req_complete", 0)                                     \
  FIELD(REQUEST_STATE, "ompi_request_t", "req_state", 4)                                           \
  FIELD(REQUEST_PERSISTENT, "ompi_request_t", "req_persistent", 1)                                 \
  FIELD(REQUEST_FORTRAN, "ompi_request_t", "req_f_to_c_index", 4)                                  \
  FIELD(REQUEST_OBJECT, "ompi_request_t", "req_mpi_object", 0)                                     \
  FIELD(PML_FREED, "mca_pml_base_request_t", "req_free_called", 4)                                 \
  FIELD(PML_TYPE, "mca_pml_base_request_t", "req_type", 4)                                         \
  FIELD(PML_COMM, "mca_pml_base_request_t", "req_comm", 0)                                         \
  FIELD(PML_DATATYPE, "mca_pml_base_request_t", "req_datatype", 0)                                 \
  FIELD(PML_BUFFER, "mca_pml_base_request_t", "req_addr", 0)                                       \
  FIELD(PML_COUNT, "mca_pml_base_request_t", "req_count", 0)                                       \
  FIELD(PML_PEER, "mca_pml_base_request_t", "req_peer", 4)                                         \
  FIELD(PML_TAG, "mca_pml_base_request_t", "req_tag", 4)                                           \
  FIELD(OB1_MATCHED, "mca_pml_ob1_recv_request_t", "req_match_received", 1)                        \
  FIELD(STATUS_SOURCE, "ompi_status_public_t", "MPI_SOURCE", 4)                                    \
  FIELD(STATUS_TAG, "ompi_status_public_t", "MPI_TAG", 4)                                          \
  FIELD(STATUS_ERROR, "ompi_status_public_t", "MPI_ERROR", 4)                                      \
  FIELD(STATUS_CANCELLED, "ompi_status_public_t", "_cancelled", 4)                                 \
  FIELD(STATUS_BYTES, "ompi_status_public_t", "_ucount", 0)                                        \
  FIELD(DATATYPE_NAME, "ompi_datatype_t", "name", -1)                                              \
  FIELD(DATATYPE_SIZE, "opal_datatype_t", "size", 0)                                               \
  FIELD(ERRHANDLER_NAME, "ompi_errhandler_t", "eh_name", -1)                                       \
  FIELD(ERRHANDLER_TYPE, "ompi_errhandler_t", "eh_mpi_object_type", 4)                             \
  FIELD(ERRHANDLER_LANGUAGE, "ompi_errhandler_t", "eh_lang", 4)                                    \
  FIELD(ERRHANDLER_COMM_FUNCTION, "ompi_errhandler_t", "eh_comm_fn", 0)                            \
  FIELD(ERRHANDLER_FILE_FUNCTION, "ompi_errhandler_t", "eh_file_fn", 0)                            \
  FIELD(ERRHANDLER_WIN_FUNCTION, "ompi_errhandler_t", "eh_win_fn", 0)                              \
  FIELD(ERRHANDLER_FORTRAN_FUNCTION, "ompi_errhandler_t", "eh_fort_fn", 0)                         \
  FIELD(ERRHANDLER_FORTRAN, "ompi_errhandler_t", "eh_f_to_c_index", 4)                             \
  FIELD(WIN_ERRHANDLER, "ompi_win_t", "error_handler", 0)                                          \
  FIELD(FILE_ERRHANDLER, "ompi_file_t", "error_handler", 0)                                        \
  FIELD(LIST_ITEM_NEXT, "opal_list_item_t", "opal_list_next", 0)                                   \
  FIELD(LIST_SENTINEL, "opal_list_t", "opal_list_sentinel", -1)                                    \
  FIELD(FREE_LIST_ITEM_SIZE, "opal_free_list_t", "fl_frag_size", 0)                                \
  FIELD(FREE_LIST_ALIGNMENT, "opal_free_list_t", "fl_frag_alignment", 0)                           \
  FIELD(FREE_LIST_ALLOCATED, "opal_free_list_t", "fl_num_allocated", 0)                            \
  FIELD(FREE_LIST_PER_BLOCK, "opal_free_list_t", "fl_num_per_alloc", 0)                            \
  FIELD(FREE_LIST_MOST, "opal_free_list_t", "fl_max_to_alloc", 0)                                  \
  FIELD(FREE_LIST_BLOCKS, "opal_free_list_t", "fl_allocations", -1)                                \
  FIELD(LIBNBC_REQUESTS, "ompi_coll_libnbc_component_t", "requests", -1)

enum openmpi_field {
#define FIELD(constant, type, field, bytes) constant,
  OPENMPI_FIELDS
#undef FIELD
      OPENMPI_FIELD_COUNT
};

/* SYMBOL(constant, name): first descriptions of classes, then tables of objects
 * (opal_pointer_array_t), then objects and others. */
#define OPENMPI_SYMBOLS                                                                            \
  SYMBOL(CLASS_COMM, "ompi_communicator_t_class")                                                  \
  SYMBOL(CLASS_ERRHANDLER, "ompi_errhandler_t_class")                                              \
  SYMBOL(CLASS_REQUEST, "ompi_request_t_class")                                                    \
  SYMBOL(CLASS_PML_REQUEST, "mca_pml_base_request_t_class")                                        \
  SYMBOL(CLASS_OB1_RECEIVE, "mca_pml_ob1_recv_request_t_class")                                    \
  SYMBOL(COMMS, "ompi_mpi_communicators")                                                          \
  SYMBOL(COMMS_OF_FORTRAN, "ompi_comm_f_to_c_table")                                               \
  SYMBOL(ERRHANDLERS_OF_FORTRAN, "ompi_errhandler_f_to_c_table")                                   \
  SYMBOL(REQUESTS_OF_FORTRAN, "ompi_request_f_to_c_table")                                         \
  SYMBOL(FILES_OF_FORTRAN, "ompi_file_f_to_c_table")                                               \
  SYMBOL(WINDOWS, "ompi_mpi_windows")                                                              \
  SYMBOL(COMM_WORLD, "ompi_mpi_comm_world")                                                        \
  SYMBOL(COMM_SELF, "ompi_mpi_comm_self")                                                          \
  SYMBOL(COMM_NULL, "ompi_mpi_comm_null")                                                          \
  SYMBOL(ERRORS_ARE_FATAL, "ompi_mpi_errors_are_fatal")                                            \
  SYMBOL(ERRORS_RETURN, "ompi_mpi_errors_return")                                                  \
  SYMBOL(ERRHANDLER_NULL, "ompi_mpi_errhandler_null")                                              \
  SYMBOL(REQUEST_NULL, "ompi_request_null")                                                        \
  SYMBOL(STATUS_IGNORE, "MPI_F_STATUS_IGNORE")                                                     \
  SYMBOL(STATUSES_IGNORE, "MPI_F_STATUSES_IGNORE")                                                 \
  SYMBOL(SENDS, "mca_pml_base_send_requests")                                                      \
  SYMBOL(RECEIVES, "mca_pml_base_recv_requests")                                                   \
  SYMBOL(LIBNBC, "mca_coll_libnbc_component")

enum openmpi_symbol {
#define SYMBOL(constant, name) constant,
  OPENMPI_SYMBOLS
#undef SYMBOL
      OPENMPI_SYMBOL_COUNT
};

enum { HELD_NOT_READ = -1 };

/* What the reader keeps with a process. */
struct openmpi {
  int offsets[OPENMPI_FIELD_COUNT];          /* -1: not known */
  mqs_taddr_t symbols[OPENMPI_SYMBOL_COUNT]; /* 0: there is none */
  /* The communicators of all point-to-point requests, one entry for each request, once somebody has
   * asked for them. */
  struct handle_list held;
  int held_code;   /* HELD_NOT_READ, or the code of reading them */
  int object_size; /* bytes of an opal_object_t */
};

/* MPIDBG_ERR_UNAVAILABLE: not even communicators can be told. */
int openmpi_open(const mqs_process_info* process, void** state);

/* The address of a field; 0: not known. */
mqs_taddr_t openmpi_at(const struct openmpi* openmpi, mqs_taddr_t object, enum openmpi_field field);
/* An integer with its sign; an address. 1 if it was read, else 0. */
int openmpi_int(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
                enum openmpi_field field, int* value);
int openmpi_word(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
                 enum openmpi_field field, uint64_t* value);

/* Reads an opal_class_t: the address of its name, and the size of its objects. */
int openmpi_class(const mqs_process_info* process, mqs_taddr_t class, mqs_taddr_t* name,
                  uint64_t* size);

/* Is there a living object of this class, or of one that is derived from it? MPIDBG_SUCCESS;
 * _ERR_NOT_FOUND: there is something else; _ERR_UNAVAILABLE: what is there cannot be read. */
int openmpi_check(const mqs_process_info* process, const struct openmpi* openmpi,
                  mqs_taddr_t object, enum openmpi_symbol class);
/* The same for an object that stands in this table as long as it lives: if it cannot be read, and
 * is not in the table either, it is no such object. Very large tables are not searched. */
int openmpi_check_listed(const mqs_process_info* process, const struct openmpi* openmpi,
                         mqs_taddr_t object, enum openmpi_symbol class, enum openmpi_symbol array);
/* The same, reduced to yes or no: openmpi_check() has found such an object. */
int openmpi_is(const mqs_process_info* process, const struct openmpi* openmpi, mqs_taddr_t object,
               enum openmpi_symbol class);

/* An opal_pointer_array_t. */
struct openmpi_table {
  mqs_taddr_t first; /* address of its slots */
  int slots;
};
/* 1 if it was read, else 0. */
int openmpi_table(const mqs_process_info* process, const struct openmpi* openmpi,
                  enum openmpi_symbol array, struct openmpi_table* table);
/* MPIDBG_SUCCESS; _ERR_NOT_FOUND: there is no such slot, or it is empty; _ERR_UNAVAILABLE: it
 * cannot be read. */
int openmpi_slot(const mqs_process_info* process, const struct openmpi_table* table, int slot,
                 mqs_taddr_t* object);
int openmpi_find_slot(const mqs_process_info* process, const struct openmpi* openmpi,
                      enum openmpi_symbol array, int slot, mqs_taddr_t* object);
/* Adds all of them: MPIDBG_SUCCESS, _ERR_UNAVAILABLE, or a code of handles_list_add(). */
int openmpi_list_table(const mqs_process_info* process, const struct openmpi* openmpi,
                       enum openmpi_symbol array, struct handle_list* list);

#endif
