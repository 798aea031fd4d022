#ifndef MQBRIDGE_DLL_HANDLES_OPENMPI_OBJECTS_H
#define MQBRIDGE_DLL_HANDLES_OPENMPI_OBJECTS_H

/* Reads the objects of Open MPI. There is a file for each of these functions. */

#include "dll/handles/openmpi/layout.h"

/* Functions of struct reader. */
int openmpi_comm(const mqs_process_info* process, void* state, struct comm_answer* answer);
int openmpi_request(const mqs_process_info* process, void* state, struct request_answer* answer);
int openmpi_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                   struct status_answer* answer);
int openmpi_errhandler(const mqs_process_info* process, void* state,
                       struct mpidbg_errhandler_info_t* info);
int openmpi_requests(const mqs_process_info* process, void* state, struct handle_list* list);

/* openmpi_request() for a request that may not be in use. */
int openmpi_find_request(const mqs_process_info* process, const struct openmpi* openmpi,
                         struct request_answer* answer);

/* The number of point-to-point requests that refer to a communicator. Returns 1 if it is known,
 * else 0. */
int openmpi_holders(const mqs_process_info* process, struct openmpi* openmpi, mqs_taddr_t comm,
                    int* count);

/* The members of an ompi_group_t by their ranks in MPI_COMM_WORLD: an array with *size elements, or
 * NULL. *size is -1 where not even the number of them is known. */
struct mpidbg_process_t* openmpi_group(const mqs_process_info* process,
                                       const struct openmpi* openmpi, mqs_taddr_t group, int* size);
/* Fills in the whole topology, or nothing of it. `flags` are the communicator's. */
void openmpi_topology(const mqs_process_info* process, const struct openmpi* openmpi, int flags,
                      struct comm_answer* answer);
/* As for topologies. */
void openmpi_attributes(const mqs_process_info* process, const struct openmpi* openmpi,
                        struct comm_answer* answer);

/* Bits of c_flags (ompi/communicator/communicator.h). */
enum openmpi_comm_flags {
  OPENMPI_INTER = 0x1,
  OPENMPI_NAME_IS_SET = 0x2,
  OPENMPI_INTRINSIC = 0x4,
  OPENMPI_FREED = 0x10,
  OPENMPI_CART = 0x100,
  OPENMPI_GRAPH = 0x200,
  OPENMPI_DIST_GRAPH = 0x400,
  OPENMPI_EXTRA_REFERENCE = 0x4000
};

#endif
