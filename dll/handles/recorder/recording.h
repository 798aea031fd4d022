#ifndef MQBRIDGE_DLL_HANDLES_RECORDER_RECORDING_H
#define MQBRIDGE_DLL_HANDLES_RECORDER_RECORDING_H

/* What the recorder of a process keeps (dll/recorder/layout.h), by handle. */

#include "dll/handles/reader.h"
#include "dll/queues/recorded.h"
#include "dll/recorder/functions.h"

struct recorded_comm {
  mqs_taddr_t handle;
  mqs_taddr_t address; /* of its struct mqr_communicator */
  mqs_taddr_t errhandler;
  int32_t fortran;
  uint32_t known; /* enum mqr_communicator_known */
  int freed;
};

/* Which structure holds a request. */
enum holder { HOLDER_OPERATION, HOLDER_COLLECTIVE, HOLDER_UNQUEUED };
struct recorded_request {
  mqs_taddr_t handle;
  mqs_taddr_t address; /* of the structure */
  mqs_taddr_t comm;    /* address of its struct mqr_communicator; 0: none, or not known */
  int32_t fortran;
  uint32_t flags; /* enum mqr_operation_flags */
  enum holder holder;
};

struct recorded_errhandler {
  mqs_taddr_t handle;
  unsigned char bytes[sizeof(struct mqr_errhandler)];
};

/* The entries of one kind. Requests are sorted by their handles; of equal ones freed requests come
 * last. */
struct found {
  void* entries;
  int count, room;
};

/* The state of the reader. All of it is of one generation of the recorder's lists. */
struct recording {
  mqs_taddr_t root_at; /* address of the struct mqr_root */
  struct root root;
  int looked;
  int whole; /* every list was read to its end, and nothing was on its way from one to another */
  size_t collective_size, unqueued_size, errhandler_size;
  unsigned char handles[sizeof(struct mqr_handles)];
  struct found comms, requests, errhandlers;
};

/* Whether there is a recorder that keeps handles. */
int recording_open(const mqs_process_info* process, void** state);
/* Looks at the process, unless nothing has changed since. MPIDBG_ERR_UNAVAILABLE: the root cannot
 * be read, or MPI is not initialized. */
int recording_look(const mqs_process_info* process, struct recording* recording);

/* Finds the entry of a handle: one that the program has not freed, or else a freed one. Not
 * MPIDBG_SUCCESS: there is none, or several entries that are not freed have this handle. MPI may
 * give a handle to a new object before the recorder learns that the old object is gone. */
int recording_comm(const struct recording* recording, mqs_taddr_t handle,
                   const struct recorded_comm** found);
int recording_request(const struct recording* recording, mqs_taddr_t handle,
                      const struct recorded_request** found);
/* 0: not known. */
mqs_taddr_t recording_comm_handle(const struct recording* recording, mqs_taddr_t address);
/* NULL: there is none. */
const struct recorded_errhandler* recording_errhandler(const struct recording* recording,
                                                       mqs_taddr_t handle);

/* The code for a handle that was not found. */
int recording_lacking(const struct recording* recording);
/* Members of the struct mqr_handles. */
mqs_taddr_t recording_constant(const mqs_process_info* process, const struct recording* recording,
                               size_t offset);
int32_t recording_null(const mqs_process_info* process, const struct recording* recording,
                       size_t offset);
uint32_t recording_flags(const mqs_process_info* process, const struct recording* recording);

#define RECORDED(read, bytes, structure, member)                                                   \
  read(&process->target, MEMBER(bytes, structure, member))

int recorder_comm(const mqs_process_info* process, void* state, struct comm_answer* answer);
int recorder_topology(const mqs_process_info* process, mqs_taddr_t address,
                      struct comm_answer* answer);
int recorder_attributes(const mqs_process_info* process, mqs_taddr_t address,
                        struct mpidbg_comm_info_t* info);
int recorder_request(const mqs_process_info* process, void* state, struct request_answer* answer);
int recorder_errhandler(const mqs_process_info* process, void* state,
                        struct mpidbg_errhandler_info_t* info);
int recorder_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                    struct status_answer* answer);

#endif
