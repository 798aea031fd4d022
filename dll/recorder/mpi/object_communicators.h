#ifndef MQBRIDGE_DLL_RECORDER_MPI_OBJECT_COMMUNICATORS_H
#define MQBRIDGE_DLL_RECORDER_MPI_OBJECT_COMMUNICATORS_H

/* Windows and files. The collectives on each are independent of those on the communicator that it
 * was made on, and of other windows and files: so each has a communicator of its own, MQR_INTERNAL,
 * that counts them. Any thread. */

#include "dll/recorder/mpi/collective.h"
#include "dll/recorder/mpi/message.h"

/* One kind of objects. */
struct mqr_objects_of {
  struct mqr_owned* first;
};
extern struct mqr_objects_of mqr_windows;
extern struct mqr_objects_of mqr_files;

/* The program has made the object by this collective. */
void mqr_object_made(struct mqr_objects_of* all, const void* object,
                     const struct mqr_entered* entered, const char* name);
/* The object's communicator. NULL: it is not known. */
const struct mqr_comm* mqr_object_comm(struct mqr_objects_of* all, const void* object);

/* As mqr_comm_withdraw(), mqr_comm_freed() and mqr_comm_not_freed(). */
struct mqr_comm* mqr_object_withdraw(struct mqr_objects_of* all, const void* object);
void mqr_object_not_freed(struct mqr_objects_of* all, const void* object, struct mqr_comm* comm);

/* The call is the next collective on the object. It ends with mqr_leave(): other processes may have
 * made it even where it fails. */
struct mqr_entered mqr_enter_collective_of(const struct mqr_call* call, enum mqr_function function,
                                           struct mqr_objects_of* all, const void* object);
/* The call is on the object, and no collective. */
void mqr_enter_of(const struct mqr_call* call, enum mqr_function function,
                  struct mqr_objects_of* all, const void* object);

/* Records a call on the parameter `object`. `enter`: mqr_enter_of or mqr_enter_collective_of. */
#define MQR_ON_OBJECT(enter, all, object, name, parameters, arguments)                             \
  MQR_RECORDED(name, parameters, arguments)                                                        \
  static int record_##name(const struct mqr_call* call, MQR_UNPACK parameters) {                   \
    enter(call, MQR_##name, all, MQR_HANDLE(object));                                              \
    const int result = MQR_NEXT(name) arguments;                                                   \
    mqr_leave();                                                                                   \
    return result;                                                                                 \
  }

#endif
