#ifndef MQBRIDGE_DLL_HANDLES_MERGE_H
#define MQBRIDGE_DLL_HANDLES_MERGE_H

#include "dll/handles/reader.h"

/* Fills in from `other`, an answer about the same handle, the facts that `answer` does not know.
 * Takes nothing if the two contradict each other. */
void handles_merge_comm(struct comm_answer* answer, const struct comm_answer* other);
void handles_merge_request(struct request_answer* answer, const struct request_answer* other);
void handles_merge_errhandler(struct mpidbg_errhandler_info_t* info,
                              const struct mpidbg_errhandler_info_t* other);

/* The code for the answers of two readers. One answer is enough; "there is no such handle" only
 * counts if no reader was kept from looking. */
int handles_combined(int code, int other);

#endif
