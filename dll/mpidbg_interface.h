#ifndef MQBRIDGE_DLL_MPIDBG_INTERFACE_H
#define MQBRIDGE_DLL_MPIDBG_INTERFACE_H

/* MPI handle introspection: what a debugger may ask about the communicators, requests, statuses and
 * error handlers of a stopped MPI process. The C ABI between a debugger (the host) and a debug DLL.
 *
 * The MPI Forum's draft leaves this chapter empty. Part 1 is version 1 of the interface as Open MPI
 * published it beside its debug DLL: names, numbers and layouts are its own, so that DLLs which
 * were written for it can be used. Part 2 is what mqbridge adds; a DLL may have any of it or none.
 * docs/debug-dll.md says which functions mqbridge calls, and in which order.
 *
 * A DLL takes symbols, types and memory from the callback tables of mqs_interface.h. Memory that it
 * hands out comes from mqs_malloc and is never given back by the DLL: the host owns it from then
 * on. All pointers and strings inside of a structure lie in such memory, or in the DLL itself. For
 * hosts and DLLs whose mqs_taddr_t has 64 bits; C17 and C++. */

#include "mqs_interface.h" /* beside this one, wherever both are installed */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Part 1: version 1 ---- */

enum {
  MPIDBG_MAX_OBJECT_NAME = 64, /* MPI_MAX_OBJECT_NAME of Open MPI, terminator included */
  MPIDBG_INTERFACE_VERSION = 1
};

enum mpidbg_return_codes_t {
  MPIDBG_SUCCESS,
  MPIDBG_ERR_NOT_FOUND,     /* the handle is not valid: nothing there is such an object */
  MPIDBG_ERR_NOT_SUPPORTED, /* the DLL cannot tell, whatever the process does */
  MPIDBG_ERR_OUT_OF_RANGE,
  MPIDBG_ERR_UNAVAILABLE, /* it cannot be told of this process now: memory, types or symbols lack */
  MPIDBG_ERR_NO_MEM,
  MPIDBG_MAX_RETURN_CODE
};

/* Types of handles in the program, by mqs_find_type; NULL: not known. Filled in by the DLL. The C++
 * ones are gone with MPI 3. */
struct mpidbg_handle_info_t {
  mqs_type* hi_c_aint;
  mqs_type* hi_c_comm;
  mqs_type* hi_c_datatype;
  mqs_type* hi_c_errhandler;
  mqs_type* hi_c_file;
  mqs_type* hi_c_group;
  mqs_type* hi_c_info;
  mqs_type* hi_c_offset;
  mqs_type* hi_c_op;
  mqs_type* hi_c_request;
  mqs_type* hi_c_status;
  mqs_type* hi_c_win;
  mqs_type* hi_cxx_aint;
  mqs_type* hi_cxx_comm;
  mqs_type* hi_cxx_intracomm;
  mqs_type* hi_cxx_intercomm;
  mqs_type* hi_cxx_graphcomm;
  mqs_type* hi_cxx_cartcomm;
  mqs_type* hi_cxx_datatype;
  mqs_type* hi_cxx_errhandler;
  mqs_type* hi_cxx_file;
  mqs_type* hi_cxx_group;
  mqs_type* hi_cxx_info;
  mqs_type* hi_cxx_offset;
  mqs_type* hi_cxx_op;
  mqs_type* hi_cxx_request;
  mqs_type* hi_cxx_prequest;
  mqs_type* hi_cxx_grequest;
  mqs_type* hi_cxx_status;
  mqs_type* hi_cxx_win;
};

struct mpidbg_process_t {
  int mpi_comm_world_rank; /* -1: not known, or a process of another MPI_COMM_WORLD */
};

/* Names of predefined handles that are no symbols of the process, such as a macro MPI_COMM_WORLD.
 * An array of them ends with a NULL name. */
struct mpidbg_name_map_t {
  char* map_name;
  mqs_taddr_t map_handle;
};

struct mpidbg_attribute_pair_t {
  int keyval;
  char* keyval_name; /* "MPI_TAG_UB"; NULL: the program's own keyval */
  char* value;       /* as text: an int in decimal for predefined ones, else an address "0x..." */
};

/* What the DLL can tell of communicators: bits of mpidbg_comm_capabilities. */
enum mpidbg_comm_capabilities_t {
  MPIDBG_COMM_CAP_BASIC = 0x01,
  MPIDBG_COMM_CAP_STRING_NAMES = 0x02,
  MPIDBG_COMM_CAP_FREED_HANDLE = 0x04,
  MPIDBG_COMM_CAP_FREED_OBJECT = 0x08,
  MPIDBG_COMM_CAP_REQUEST_LIST = 0x10,
  MPIDBG_COMM_CAP_WINDOW_LIST = 0x20,
  MPIDBG_COMM_CAP_FILE_LIST = 0x40,
  MPIDBG_COMM_CAP_MAX
};

enum mpidbg_comm_info_bitmap_t {
  MPIDBG_COMM_INFO_PREDEFINED = 0x01,
  MPIDBG_COMM_INFO_CARTESIAN = 0x02,
  MPIDBG_COMM_INFO_GRAPH = 0x04,
  MPIDBG_COMM_INFO_TOPO_REORDERED = 0x08,
  MPIDBG_COMM_INFO_INTERCOMM = 0x10,
  MPIDBG_COMM_INFO_FREED_HANDLE = 0x20, /* MPI_Comm_free was called */
  MPIDBG_COMM_INFO_FREED_OBJECT = 0x40, /* and the MPI has freed the object */
  MPIDBG_COMM_INFO_COMM_NULL = 0x80,    /* the handle is MPI_COMM_NULL */
  MPIDBG_COMM_INFO_DIST_GRAPH = 0x400,
  MPIDBG_COMM_INFO_MAX
};

/* A count may be MPIDBG_ERR_NOT_SUPPORTED. But that is 2, which may be a real count as well: a host
 * goes by the capabilities, and by whether the array is NULL. In a DLL with part 2 a NULL array
 * means not known; an empty array is not NULL. */
struct mpidbg_comm_info_t {
  char comm_name[MPIDBG_MAX_OBJECT_NAME]; /* terminated */
  enum mpidbg_comm_info_bitmap_t comm_bitflags;
  int comm_rank; /* of this process in it; -1: none */
  int comm_size;
  int comm_num_local_procs;
  struct mpidbg_process_t* comm_local_procs; /* by rank */
  int comm_num_remote_procs;                 /* of an intercommunicator, else 0 */
  struct mpidbg_process_t* comm_remote_procs;
  int comm_cart_num_dims;
  int* comm_cart_dims;
  int8_t* comm_cart_periods; /* 1: periodic */
  /* MPI_Graph_get: `index` has a number for each node, `edges` as many as the last of them says. Of
   * distributed graphs see mpidbg_comm_description. */
  int comm_graph_num_nodes;
  int* comm_graph_index;
  int* comm_graph_edges;
  mqs_taddr_t comm_c_handle;
  int comm_fortran_handle; /* MPIDBG_ERR_UNAVAILABLE (4) and _NOT_SUPPORTED (2) are handles, too:
                              see mpidbg_comm_description */
  int comm_num_attrs;
  struct mpidbg_attribute_pair_t* comm_attrs;
  int comm_num_pending_requests; /* MPIDBG_COMM_CAP_REQUEST_LIST */
  mqs_taddr_t* comm_pending_requests;
  int comm_num_derived_windows; /* MPIDBG_COMM_CAP_WINDOW_LIST */
  mqs_taddr_t* comm_derived_windows;
  int comm_num_derived_files; /* MPIDBG_COMM_CAP_FILE_LIST */
  mqs_taddr_t* comm_derived_files;
};

enum mpidbg_request_capabilities_t { MPIDBG_REQUEST_CAP_BASIC = 0x01, MPIDBG_REQUEST_CAP_MAX };
enum mpidbg_request_info_bitmap_t {
  MPIDBG_REQUEST_INFO_PREDEFINED = 0x01, /* MPI_REQUEST_NULL, or one that the MPI itself made */
  MPIDBG_REQUEST_INFO_MAX
};
struct mpidbg_request_info_t {
  enum mpidbg_request_info_bitmap_t req_bitflags;
  mqs_taddr_t req_c_handle;
  int req_fortran_handle; /* as comm_fortran_handle */
};

enum mpidbg_status_capabilities_t { MPIDBG_STATUS_CAP_BASIC = 0x01, MPIDBG_STATUS_CAP_MAX };
enum mpidbg_status_info_bitmap_t {
  MPIDBG_STATUS_INFO_PREDEFINED = 0x01, /* MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE */
  MPIDBG_STATUS_INFO_MAX
};
struct mpidbg_status_info_t {
  enum mpidbg_status_info_bitmap_t status_bitflags;
};

enum mpidbg_errhandler_capabilities_t {
  MPIDBG_ERRH_CAP_BASIC = 0x01,
  MPIDBG_ERRH_CAP_STRING_NAMES = 0x02,
  MPIDBG_ERRH_CAP_FREED_HANDLE = 0x04,
  MPIDBG_ERRH_CAP_FREED_OBJECT = 0x08,
  MPIDBG_ERRH_CAP_HANDLE_LIST = 0x10,
  MPIDBG_ERRH_CAP_MAX
};
enum mpidbg_errhandler_info_bitmap_t {
  MPIDBG_ERRH_INFO_PREDEFINED = 0x01,
  MPIDBG_ERRH_INFO_COMMUNICATOR = 0x02,
  MPIDBG_ERRH_INFO_FILE = 0x04,
  MPIDBG_ERRH_INFO_WINDOW = 0x08,
  MPIDBG_ERRH_INFO_C_CALLBACK = 0x10, /* else in Fortran */
  MPIDBG_ERRH_INFO_FREED_HANDLE = 0x20,
  MPIDBG_ERRH_INFO_FREED_OBJECT = 0x40,
  MPIDBG_ERRH_INFO_MAX
};
struct mpidbg_errhandler_info_t {
  char eh_name[MPIDBG_MAX_OBJECT_NAME]; /* of predefined ones; else "" */
  enum mpidbg_errhandler_info_bitmap_t eh_bitflags;
  mqs_taddr_t eh_c_handle;
  int eh_fortran_handle;        /* as comm_fortran_handle */
  int16_t eh_refcount;          /* MPIDBG_ERRH_CAP_HANDLE_LIST: the number of eh_handles */
  mqs_taddr_t* eh_handles;      /* handles to which it is attached */
  mqs_taddr_t eh_callback_func; /* 0: predefined */
};

/* In the MPI process: a NULL-terminated array of paths of DLLs, or NULL. Valid from MPIR_Breakpoint
 * on. */
#define MPIDBG_DLL_LOCATIONS_SYMBOL "mpidbg_dll_locations"

/* Variables of the DLL. The first two are valid once it is loaded, the others after
 * mpidbg_init_per_process. The name maps may be NULL. */
extern char mpidbg_dll_is_big_endian; /* the DLL itself, that is the host */
extern char mpidbg_dll_bitness;       /* 64 */
extern enum mpidbg_comm_capabilities_t mpidbg_comm_capabilities;
extern enum mpidbg_errhandler_capabilities_t mpidbg_errhandler_capabilities;
extern struct mpidbg_name_map_t* mpidbg_comm_name_map;
extern struct mpidbg_name_map_t* mpidbg_errhandler_name_map;

/* Functions of the DLL. All return an mpidbg_return_codes_t unless they say otherwise. These are
 * called once, before all others: */
int mpidbg_init_once(const mqs_basic_callbacks* callbacks);
int mpidbg_interface_version_compatibility(void); /* MPIDBG_INTERFACE_VERSION */
char* mpidbg_version_string(void);
int mpidbg_dll_taddr_width(void); /* bytes of mqs_taddr_t */

/* Called once for each image: the DLL puts its info of the image by mqs_put_image_info. After
 * MPIDBG_ERR_NOT_SUPPORTED nothing more is called for the image. */
int mpidbg_init_per_image(mqs_image* image, const mqs_image_callbacks* callbacks,
                          struct mpidbg_handle_info_t* handle_types);
void mpidbg_finalize_per_image(mqs_image* image, mqs_image_info* image_info);

/* Called once for each process, in the same way. */
int mpidbg_init_per_process(mqs_process* process, const mqs_process_callbacks* callbacks,
                            struct mpidbg_handle_info_t* handle_types);
void mpidbg_finalize_per_process(mqs_process* process, mqs_process_info* process_info);

/* The first arguments of every query. The infos are those that the DLL has put. */
#define MPIDBG_OF                                                                                  \
  mqs_image *image, mqs_image_info *image_info, mqs_process *process, mqs_process_info *process_info

/* Describe a handle. Handles are as in a C program, zero-extended: an address, or an integer. */
int mpidbg_comm_query(MPIDBG_OF, mqs_taddr_t comm, struct mpidbg_comm_info_t** info);
int mpidbg_errhandler_query(MPIDBG_OF, mqs_taddr_t errhandler,
                            struct mpidbg_errhandler_info_t** info);
int mpidbg_request_query(MPIDBG_OF, mqs_taddr_t request, struct mpidbg_request_info_t** info);
/* `status` is the address of an MPI_Status. */
int mpidbg_status_query(MPIDBG_OF, mqs_taddr_t status, struct mpidbg_status_info_t** info);

/* The C handle of a Fortran INTEGER, which is zero-extended. */
int mpidbg_comm_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* comm);
int mpidbg_errhandler_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* errhandler);
int mpidbg_request_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* request);
/* The same for the address of a Fortran status, INTEGER status(MPI_STATUS_SIZE). */
int mpidbg_status_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* status);

/* ---- Part 2: what mqbridge adds ---- */

/* Each function is optional: a host looks it up by its name. A structure begins with its size in
 * bytes as the DLL was compiled with: later versions append members, and a host takes what lies
 * beyond for not known. Text is terminated; "" means not known. */

enum { MPIDBG_EXTENSION_VERSION = 1 };
int mpidbg_extension_version(void);

/* One more bit of eh_bitflags: whether this handle was freed is not known, although the DLL has
 * MPIDBG_ERRH_CAP_FREED_HANDLE. */
enum { MPIDBG_ERRH_INFO_FREED_NOT_KNOWN = 0x10000 };

/* All handles of a kind that exist in the process, predefined ones among them: an array, and their
 * number. MPIDBG_ERR_UNAVAILABLE: the array has the handles that were found, and some are missing.
 * MPIDBG_ERR_NOT_SUPPORTED: there is no array. Freed requests are not listed. */
int mpidbg_comm_list(MPIDBG_OF, mqs_taddr_t** handles, int* count);
int mpidbg_request_list(MPIDBG_OF, mqs_taddr_t** handles, int* count);
int mpidbg_errhandler_list(MPIDBG_OF, mqs_taddr_t** handles, int* count);

/* What mpidbg_comm_info_t has no room for. */
enum mpidbg_known { /* bits of `known`: which of the members below say something */
                    MPIDBG_KNOWN_FORTRAN = 0x01,
                    MPIDBG_KNOWN_ERRHANDLER = 0x02,
                    MPIDBG_KNOWN_CONTEXT = 0x04,
                    MPIDBG_KNOWN_NEIGHBORS = 0x08,
                    MPIDBG_KNOWN_ATTRIBUTES =
                        0x10, /* comm_attrs of mpidbg_comm_info_t has all attributes */
                    MPIDBG_KNOWN_TOPOLOGY =
                        0x20, /* the bits and members of topologies say something */
                    MPIDBG_KNOWN_COMM = 0x40,
                    MPIDBG_KNOWN_PEER = 0x80,
                    MPIDBG_KNOWN_TAG = 0x100,
                    MPIDBG_KNOWN_COUNT = 0x200,
                    MPIDBG_KNOWN_BYTES = 0x400,
                    MPIDBG_KNOWN_BUFFER = 0x800,
                    MPIDBG_KNOWN_ACTUAL = 0x1000, /* actual_source and actual_tag */
                    MPIDBG_KNOWN_ACTUAL_BYTES = 0x2000,
                    MPIDBG_KNOWN_ERROR = 0x4000,
                    MPIDBG_KNOWN_CANCELLED = 0x8000,
                    MPIDBG_KNOWN_PERSISTENT = 0x10000,
                    MPIDBG_KNOWN_SITE = 0x20000,
                    MPIDBG_KNOWN_REORDERED =
                        0x40000, /* MPIDBG_COMM_INFO_TOPO_REORDERED says something, whether it
                                    is set or not; a topology is known without it */
};

struct mpidbg_comm_description {
  uint32_t size;
  uint32_t known; /* enum mpidbg_known */
  mqs_taddr_t handle;
  int32_t fortran_handle; /* 0 among them */
  uint32_t reserved;
  mqs_taddr_t errhandler; /* C handle */
  uint64_t context;       /* as the message queues' unique_id */
  /* Of a distributed graph: local ranks, with weights where `weighted`. */
  int32_t weighted;
  int32_t num_sources, num_destinations;
  int32_t reserved_2;
  int32_t *sources, *source_weights, *destinations, *destination_weights;
};
int mpidbg_comm_describe(MPIDBG_OF, mqs_taddr_t comm, struct mpidbg_comm_description** description);

enum mpidbg_request_kind {
  MPIDBG_REQUEST_UNKNOWN,
  MPIDBG_REQUEST_NULL, /* MPI_REQUEST_NULL */
  MPIDBG_REQUEST_SEND,
  MPIDBG_REQUEST_RECEIVE,
  MPIDBG_REQUEST_COLLECTIVE,
  MPIDBG_REQUEST_GENERALIZED,
  MPIDBG_REQUEST_RMA,
  MPIDBG_REQUEST_IO,
  MPIDBG_REQUEST_COMM /* MPI_Comm_idup and its like */
};
enum mpidbg_request_state {
  MPIDBG_STATE_UNKNOWN,
  MPIDBG_STATE_INACTIVE, /* persistent, and not started or completed since */
  MPIDBG_STATE_ACTIVE,   /* started, and MPI_Test would not complete it now */
  MPIDBG_STATE_COMPLETE, /* MPI_Test would complete it now */
  MPIDBG_STATE_FREED     /* the program has freed it, and it goes on */
};
enum { MPIDBG_ANY_SOURCE = -1, MPIDBG_PROC_NULL = -2, MPIDBG_ANY_TAG = -1 };

struct mpidbg_request_description {
  uint32_t size;
  uint32_t known; /* enum mpidbg_known */
  int32_t kind;   /* enum mpidbg_request_kind */
  int32_t state;  /* enum mpidbg_request_state */
  mqs_taddr_t handle;
  int32_t fortran_handle;
  int32_t persistent;
  mqs_taddr_t comm; /* C handle */
  int32_t peer; /* local rank, of the remote group in an intercommunicator; or the values above */
  int32_t tag;
  uint64_t count; /* elements of `datatype` */
  uint64_t bytes; /* at most, of a receive */
  mqs_taddr_t buffer;
  int32_t actual_source, actual_tag; /* of a receive that has met its message */
  uint64_t actual_bytes;
  int32_t error;     /* MPI_ERROR of its status once complete; 0: MPI_SUCCESS */
  int32_t cancelled; /* MPI_Cancel was called, and has succeeded or not yet failed */
  mqs_taddr_t site;  /* return address of the call that made it */
  char call[32];     /* "MPI_Irecv" */
  char datatype[64]; /* "MPI_DOUBLE", or the name that the program gave */
};
int mpidbg_request_describe(MPIDBG_OF, mqs_taddr_t request,
                            struct mpidbg_request_description** description);

struct mpidbg_status_description {
  uint32_t size;
  uint32_t known; /* enum mpidbg_known: _ACTUAL, _ACTUAL_BYTES, _ERROR, _CANCELLED */
  int32_t source, tag, error;
  int32_t cancelled;
  uint64_t bytes;
};
int mpidbg_status_describe(MPIDBG_OF, mqs_taddr_t status,
                           struct mpidbg_status_description** description);

#ifdef __cplusplus
}
#endif

#endif
