#ifndef MQBRIDGE_DLL_RECORDER_MPI_VARIABLES_H
#define MQBRIDGE_DLL_RECORDER_MPI_VARIABLES_H

/* What MPI_T, the tool information interface, tells of the MPI: listed when MPI_Init has returned,
 * and again when MPI says that it has changed; sampled when the program enters calls. Any thread.
 *
 * MQBRIDGE_VARIABLES=0 in the environment: MPI_T is left alone, as it is with Open MPI unless the
 * variable is 1. MQBRIDGE_SAMPLE_MS=N: calls that do not wait sample, too, when the last sample is
 * so many milliseconds old. */

#include "dll/recorder/functions.h"
#include "dll/recorder/mpi/library.h"

/* MPI_Init is about to be called; the library is open. */
void mqr_variables_before_init(const void* site);
/* It has returned, and communicators are known. */
void mqr_variables_start(const void* site);
/* MPI_Finalize is about to be called: MPI_T is as it would be without the recorder from here on.
 * What is published stays. */
void mqr_variables_stop(void);

/* This thread has left a call by a jump, perhaps in the middle of a sample. */
void mqr_variables_left_by_a_jump(void);

/* MPI has made an intracommunicator; it is about to be freed; all of them are gone. */
void mqr_variables_add_communicator(MPI_Comm comm, uint64_t id);
void mqr_variables_remove_communicator(MPI_Comm comm);
void mqr_variables_forget_communicators(void);

/* Which calls look at the clock. */
enum mqr_sampling { MQR_SAMPLES_NEVER, MQR_SAMPLES_WAITS, MQR_SAMPLES_CALLS };
extern uint32_t mqr_sampling;
extern const unsigned char mqr_never_waits[MQR_FUNCTION_NUMBERS];
void mqr_sample_if_due(int waits);

/* The program has entered a call. */
static inline void mqr_sample_in(enum mqr_function function) {
  const uint32_t sampling = __atomic_load_n(&mqr_sampling, __ATOMIC_RELAXED);
  if (sampling > mqr_never_waits[function])
    mqr_sample_if_due(!mqr_never_waits[function]);
}

#endif
