#ifndef MQBRIDGE_DLL_RECORDER_MPI_LISTED_VARIABLES_H
#define MQBRIDGE_DLL_RECORDER_MPI_LISTED_VARIABLES_H

#include "dll/recorder/mpi/tool_interface.h"
#include "dll/recorder/variables.h"

/* Gets each performance variable that can be sampled: `variable` is its index in
 * MQR_PART_VARIABLES. */
typedef void mqr_take_variable(const struct mqr_variable* described, uint32_t variable);

/* Lists everything that MPI_T has now: variables with the values of control variables, categories,
 * enumerations. Between mqr_tool_open() and mqr_tool_close(); one thread at a time. NULL: no
 * memory. */
struct mqr_variables* mqr_list_all(uint64_t when, mqr_take_variable* take);

#endif
