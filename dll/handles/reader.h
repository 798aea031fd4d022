#ifndef MQBRIDGE_DLL_HANDLES_READER_H
#define MQBRIDGE_DLL_HANDLES_READER_H

/* The interface between the entry points (setup.c, queries.c, lists.c) and the readers, which know
 * where the handles of a process are: in the memory of one MPI, or in a recorder's. Each reader is
 * a struct reader. Several readers may know the same process. The entry points ask all
 * of them, in the order of setup.c, and fill in from the next one the facts that the first one
 * leaves unknown (merge.c). So a reader says only what it knows, and MPIDBG_ERR_UNAVAILABLE where
 * it should know and cannot. */

#include "dll/handles/memory.h"

/* A handle that is being described. The reader gets the structure zeroed, except for the handle,
 * the sizes, and the `unknown` ranks (-1). It fills in the members that it knows, with arrays from
 * handles_allocate(), and sets the bits of more.known, which hold for both structures. */
struct comm_answer {
  /* The entry points fill in comm_c_handle and comm_fortran_handle, the reader the rest. An unknown
   * name is "", an unknown group NULL. Bits of the topology are set only with
   * MPIDBG_KNOWN_TOPOLOGY, attributes only with MPIDBG_KNOWN_ATTRIBUTES. */
  struct mpidbg_comm_info_t info;
  struct mpidbg_comm_description more;
};
struct request_answer {
  enum mpidbg_request_info_bitmap_t flags;
  struct mpidbg_request_description more;
};
struct status_answer {
  enum mpidbg_status_info_bitmap_t flags;
  struct mpidbg_status_description more;
};

/* Names of predefined handles (mpidbg_name_map_t). */
enum { HANDLES_NAMES = 8 };
struct name_map {
  struct mpidbg_name_map_t names[HANDLES_NAMES + 1];
  int count;
};
/* `name` is a string of the DLL. */
void handles_name(struct name_map* map, char* name, mqs_taddr_t handle);

struct reader {
  const char* name; /* "Open MPI" */
  /* The reader is not asked about a process that lacks this symbol. */
  const char* symbol;

  /* Sets *state to what the reader needs of the process from now on: memory from
   * handles_allocate(), or NULL. Called once for each process. If it does not return
   * MPIDBG_SUCCESS, the reader is not asked. */
  int (*open)(const mqs_process_info* process, void** state);
  /* Gives back the memory that open() and the others keep. NULL: *state is all of it. */
  void (*close)(void* state);
  /* Fills in the types that it knows. May be NULL. */
  void (*types)(const mqs_process_info* process, void* state,
                struct mpidbg_handle_info_t* types_of);
  /* Adds predefined handles by handles_name(). May be NULL. */
  void (*names)(const mqs_process_info* process, void* state, struct name_map* comms,
                struct name_map* errhandlers);

  unsigned comm_capabilities;       /* enum mpidbg_comm_capabilities_t */
  unsigned errhandler_capabilities; /* enum mpidbg_errhandler_capabilities_t */

  /* Describes the handle in the answer. NULL: MPIDBG_ERR_NOT_SUPPORTED, as for all below. */
  int (*comm)(const mqs_process_info* process, void* state, struct comm_answer* answer);
  int (*request)(const mqs_process_info* process, void* state, struct request_answer* answer);
  /* Describes the MPI_Status at `address`. */
  int (*status)(const mqs_process_info* process, void* state, mqs_taddr_t address,
                struct status_answer* answer);
  int (*errhandler)(const mqs_process_info* process, void* state,
                    struct mpidbg_errhandler_info_t* info);

  /* `fortran` is an INTEGER, with its sign. */
  int (*comm_f2c)(const mqs_process_info* process, void* state, int32_t fortran, mqs_taddr_t* comm);
  int (*errhandler_f2c)(const mqs_process_info* process, void* state, int32_t fortran,
                        mqs_taddr_t* errhandler);
  int (*request_f2c)(const mqs_process_info* process, void* state, int32_t fortran,
                     mqs_taddr_t* request);
  /* `fortran` is the address of a Fortran status. */
  int (*status_f2c)(const mqs_process_info* process, void* state, mqs_taddr_t fortran,
                    mqs_taddr_t* status);

  /* Adds each handle by handles_list_add(), with duplicates or not. MPIDBG_ERR_UNAVAILABLE: there
   * may be more. */
  int (*comms)(const mqs_process_info* process, void* state, struct handle_list* list);
  int (*requests)(const mqs_process_info* process, void* state, struct handle_list* list);
  int (*errhandlers)(const mqs_process_info* process, void* state, struct handle_list* list);
};

extern const struct reader handles_openmpi;
extern const struct reader handles_mpich;
extern const struct reader handles_recorder;

#endif
