#ifndef MQBRIDGE_DLL_RECORDER_HANDLES_H
#define MQBRIDGE_DLL_RECORDER_HANDLES_H

/* The recorder's lists of the program's handles (layout.h, 1.2). The rules of recorder.h hold: any
 * thread, any time; handles are any number of bytes that fit a pointer. */

#include "dll/recorder/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To be called once, between mqr_init() and mqr_finalize(). Takes from `constants` the flags, the
 * form of a status, and the handles that every MPI has; the recorder fills in the rest. Without
 * memory a gap is noted. */
void mqr_handles_open(const struct mqr_handles* constants);
/* From here on some objects may be in no list: enum mqr_handles_flags. */
void mqr_handles_note(uint32_t flags);

/* Sets a communicator's handle. `known`: the bits of enum mqr_communicator_known for the fields
 * that become known by this call. */
void mqr_communicator_set_handle(struct mqr_recorded_communicator* communicator, const void* handle,
                                 int32_t fortran, uint32_t known);
void mqr_communicator_set_errhandler(struct mqr_recorded_communicator* communicator,
                                     const void* errhandler);
/* `topology`, with its numbers, is from malloc(); it belongs to the recorder from here on. NULL:
 * none. */
void mqr_communicator_set_topology(struct mqr_recorded_communicator* communicator,
                                   struct mqr_topology* topology);
/* Replaces an attribute of the same keyval. */
void mqr_communicator_set_attribute(struct mqr_recorded_communicator* communicator,
                                    const struct mqr_attribute* attribute);
void mqr_communicator_delete_attribute(struct mqr_recorded_communicator* communicator,
                                       int32_t keyval);
/* Whether any listed communicator has an attribute of that keyval. */
int mqr_attribute_is_set(int32_t keyval);
/* The program's attributes may have changed: none of them is known any more. */
void mqr_communicator_lose_attributes(struct mqr_recorded_communicator* communicator);
/* From here on the list of attributes is complete. */
void mqr_communicator_know_attributes(struct mqr_recorded_communicator* communicator);

/* As struct mqr_errhandler. */
struct mqr_errhandler_spec {
  const void* handle;
  const void* function; /* NULL: predefined, or not known */
  int32_t fortran;
  uint32_t flags;      /* enum mqr_errhandler_flags */
  uint32_t predefined; /* enum mqr_predefined_errhandler */
};
/* The program has made an error handler, and holds it once. Facts about an older one with this
 * handle are dropped. */
void mqr_errhandler_add(const struct mqr_errhandler_spec* spec);
/* Whether it is known. */
int mqr_errhandler_is_known(const void* handle);
/* The program holds it once more: MPI_Comm_get_errhandler. */
void mqr_errhandler_refer(const void* handle);
/* The program holds it once less. It goes when no communicator, window or file has it any more, and
 * the program does not either. */
void mqr_errhandler_free(const void* handle);
/* A window or a file has it from here on, or has it no more. */
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
/* A persistent request becomes active, or inactive again. */
void mqr_unqueued_activate(struct mqr_recorded_unqueued* unqueued, int active);
int mqr_unqueued_is_persistent(const struct mqr_recorded_unqueued* unqueued);
/* A message of MPI_PROC_NULL: MPI_Wait returns at once. */
int mqr_unqueued_is_message(const struct mqr_recorded_unqueued* unqueued);

/* Sets these bits of enum mqr_operation_flags for a request, whichever list it is in. */
void mqr_request_mark(const void* request, uint32_t flags);
void mqr_request_set_fortran(const void* request, int32_t fortran);
/* The same for an operation, whatever its request is. */
void mqr_operation_mark(struct mqr_recorded_operation* operation, uint32_t flags);
/* The program has freed the request of an operation that stays listed: the request does not lead to
 * it any more. Beyond MQR_MAX_FREED of them the oldest one is listed no more. */
void mqr_operation_free_request(struct mqr_recorded_operation* operation);
void mqr_collective_free_request(struct mqr_recorded_collective* collective);

#ifdef __cplusplus
}
#endif

#endif
