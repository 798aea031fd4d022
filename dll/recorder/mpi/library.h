#ifndef MQBRIDGE_DLL_RECORDER_MPI_LIBRARY_H
#define MQBRIDGE_DLL_RECORDER_MPI_LIBRARY_H

/* The MPI below the recorder. The recorder refers to none of its symbols: a program without MPI
 * loads the recorder as well, and an MPI may be loaded long after it. It looks up each function and
 * object by name, when the program calls MPI. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define MQR_EXPORTED __attribute__((visibility("default")))

typedef void mqr_any_function(void);

/* The next definition of a function after the recorder's; `site` is an address in its caller. NULL:
 * there is none. */
mqr_any_function* mqr_find_function(const char* name, const void* site);

/* The functions that the recorder itself calls: all of them are local to the process. */
/* clang-format off */
#define MQR_ASKED(F)                                                                               \
  F(Cart_get) F(Cartdim_get) F(Comm_get_attr) F(Comm_get_errhandler) F(Comm_get_name) F(Comm_get_parent) F(Comm_group) F(Comm_rank) F(Comm_remote_group) F(Comm_set_errhandler) F(Comm_size) F(Comm_test_inter) \
  F(Dist_graph_neighbors) F(Dist_graph_neighbors_count) F(Errhandler_free) F(Error_class) F(Get_count) F(Get_library_version) F(Graph_get) F(Graphdims_get) F(Group_free) F(Group_size)                   \
  F(Group_translate_ranks) F(Isend) F(Query_thread) F(Request_get_status) F(Test_cancelled) F(Topo_test)        \
  F(Type_get_name) F(Type_size_x) F(Wait)
/* clang-format on */

/* Macros in an MPI whose handles are Fortran INTEGERs. */
#ifdef MPI_Comm_c2f
#define MQR_ASKED_FOR_FORTRAN(F)
#else
#define MQR_ASKED_FOR_FORTRAN(F) F(Comm_c2f) F(Errhandler_c2f) F(Request_c2f)
#endif

struct mqr_asked {
#define MQR_MEMBER(name) __typeof__(&PMPI_##name) name;
  MQR_ASKED(MQR_MEMBER)
  MQR_ASKED_FOR_FORTRAN(MQR_MEMBER)
#undef MQR_MEMBER
};
extern struct mqr_asked mqr_mpi;

/* Finds all of the above. 0: this is not the MPI that the recorder was compiled for; `problem` says
 * what is missing. */
int mqr_open_library(const void* site, const char** problem);

/* The recorder may ask MPI about a handle that is not valid. Between these two calls MPI calls no
 * error handler of the program: only the program's own call, which comes after, is to do that. For
 * errors of no communicator MPI takes the error handler of MPI_COMM_WORLD or MPI_COMM_SELF. One
 * thread at a time. */
struct mqr_quiet {
  MPI_Errhandler world;
  MPI_Errhandler self;
};
struct mqr_quiet mqr_quietly(void);
void mqr_aloud(struct mqr_quiet* quiet);

#ifdef OPEN_MPI
/* The constants of this MPI are addresses of objects, which are looked up like the functions. */
/* clang-format off */
#define MQR_OBJECTS(F)                                                                             \
  F(ompi_mpi_comm_world) F(ompi_mpi_comm_self) F(ompi_mpi_comm_null) F(ompi_request_null)          \
  F(ompi_message_no_proc) F(ompi_mpi_datatype_null) F(ompi_mpi_byte) F(ompi_mpi_file_null)         \
  F(ompi_mpi_errhandler_null) F(ompi_mpi_errors_are_fatal) F(ompi_mpi_errors_return)
/* clang-format on */
struct mqr_objects {
#define MQR_MEMBER(name) void* name;
  MQR_OBJECTS(MQR_MEMBER)
#undef MQR_MEMBER
};
extern struct mqr_objects mqr_object;
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)mqr_object.global)
#endif

/* A handle is an integer, whose sign means nothing, or an address. */
#define MQR_HANDLE(handle)                                                                         \
  ((const void*)((uintptr_t)(handle)&UINTPTR_MAX >> 8 * (sizeof(uintptr_t) - sizeof(handle))))

#endif
