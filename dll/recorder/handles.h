#ifndef MQBRIDGE_DLL_RECORDER_HANDLES_H
#define MQBRIDGE_DLL_RECORDER_HANDLES_H

/* What the recorder's core keeps of the program's handles (layout.h, 1.2). By the rules of
 * recorder.h: any thread, any time; handles are any number of bytes that fit a pointer. */

#include "dll/recorder/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Between mqr_init() and mqr_finalize(), once. Of `constants` the flags, what a status is, and the
 * handles that every MPI has; the rest is the recorder's. Without memory a gap is noted. */
void mqr_handles_open(const struct mqr_handles* constants);
/* Something may be in no list from here on: enum mqr_handles_flags. */
void mqr_handles_note(uint32_t flags);

/* Of a communicator. `known`: enum mqr_communicator_known, those that become known by this call. */
void mqr_communicator_set_handle(struct mqr_recorded_communicator* communicator, const void* handle,
                                 int32_t fortran, uint32_t known);
void mqr_communicator_set_errhandler(struct mqr_recorded_communicator* communicator,
                                     const void* errhandler);
/* `topology` is from malloc(), with its numbers, and the recorder's from here on. NULL: none. */
void mqr_communicator_set_topology(struct mqr_recorded_communicator* communicator,
                                   struct mqr_topology* topology);
/* One that has the keyval already is replaced. */
void mqr_communicator_set_attribute(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_attribute* attribute);
void mqr_communicator_delete_attribute(struct mqr_recorded_communicator* communicator,
                                       int32_t keyval);
/* Whether a communicator that is listed has an attribute of that keyval. */
int mqr_attribute_is_set(int32_t keyval);
/* Those of the program may be there or not: none of them is known any more. */
void mqr_communicator_lose_attributes(struct mqr_recorded_communicator* communicator);
/* All of its attributes are there. */
void mqr_communicator_know_attributes(struct mqr_recorded_communicator* communicator);

/* As struct mqr_errhandler. */
struct mqr_errhandler_spec {
  const void* handle;
  const void* function; /* NULL: predefined, or not known */
  int32_t fortran;
  uint32_t flags;      /* enum mqr_errhandler_flags */
  uint32_t predefined; /* enum mqr_predefined_errhandler */
};
/* The program has made it, and holds it once. What was known under the handle is gone. */
void mqr_errhandler_add(const struct mqr_errhandler_spec* spec);
/* Whether it is known. */
int mqr_errhandler_is_known(const void* handle);
/* The program holds it once more: MPI_Comm_get_errhandler. */
void mqr_errhandler_refer(const void* handle);
/* Once less. It goes when nothing has it any more: no communicator, window or file, and not the
 * program. */
void mqr_errhandler_free(const void* handle);
/* A window or a file has it, or has it no more. */
void mqr_errhandler_attach(const void* handle);
void mqr_errhandler_detach(const void* handle);

/* As struct mqr_unqueued. */
struct mqr_unqueued_spec {
  enum mqr_function function;
  uint32_t flags;
  const void* request;
  const struct mqr_recorded_communicator* communicator; /* NULL: none, or not known */
  const void* site;
  int32_t tag;
  const void* buffer;
  uint64_t count;
  uint64_t length;
  const struct mqr_word* datatype; /* NULL: not known */
};
struct mqr_recorded_unqueued;
/* Without memory, or while nothing is recorded, a gap is noted. */
void mqr_unqueued_begin(const struct mqr_unqueued_spec* spec);
/* As mqr_request_take(). */
struct mqr_recorded_unqueued* mqr_unqueued_take(const void* request);
void mqr_unqueued_put_back(struct mqr_recorded_unqueued* unqueued);
void mqr_unqueued_end(struct mqr_recorded_unqueued* unqueued);
/* The program has freed its request: a generalized one stays until the program completes it. */
void mqr_unqueued_free(struct mqr_recorded_unqueued* unqueued);
/* A generalized request is complete: MPI_Grequest_complete. */
void mqr_unqueued_complete(const void* request);
/* A persistent one is active, or is inactive again. */
void mqr_unqueued_activate(struct mqr_recorded_unqueued* unqueued, int active);
int mqr_unqueued_is_persistent(const struct mqr_recorded_unqueued* unqueued);
/* A message of MPI_PROC_NULL: MPI_Wait returns at once. */
int mqr_unqueued_is_message(const struct mqr_recorded_unqueued* unqueued);

/* Of a request in whatever list: sets these bits of enum mqr_operation_flags. */
void mqr_request_mark(const void* request, uint32_t flags);
void mqr_request_set_fortran(const void* request, int32_t fortran);
/* Of an operation, whatever its request. */
void mqr_operation_mark(struct mqr_recorded_operation* operation, uint32_t flags);
/* The program has freed the request of one that stays listed: nothing finds it by that any more. */
void mqr_operation_free_request(struct mqr_recorded_operation* operation);
void mqr_collective_free_request(struct mqr_recorded_collective* collective);

#ifdef __cplusplus
}
#endif

#endif
