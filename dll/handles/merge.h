#ifndef MQBRIDGE_DLL_HANDLES_MERGE_H
#define MQBRIDGE_DLL_HANDLES_MERGE_H

#include "dll/handles/reader.h"

/* Takes what `answer` does not know from `other`, which is of the same handle; nothing where the
 * two contradict each other. */
void handles_merge_comm(struct comm_answer* answer, const struct comm_answer* other);
void handles_merge_request(struct request_answer* answer, const struct request_answer* other);
void handles_merge_errhandler(struct mpidbg_errhandler_info_t* info,
                              const struct mpidbg_errhandler_info_t* other);

/* The result of two readers: one answer is enough, and that something is not there only counts
 * where nobody was kept from looking. */
int handles_combined(int code, int other);

#endif
