#ifndef MQBRIDGE_DLL_RECORDER_MPI_VARIABLE_VALUE_H
#define MQBRIDGE_DLL_RECORDER_MPI_VARIABLE_VALUE_H

#include "dll/recorder/mpi/tool_interface.h"
#include "dll/recorder/variables.h"

/* Fills in what a variable of this datatype holds: `datatype`, `form` and `element`. */
void mqr_describe_value(struct mqr_variable* variable, MPI_Datatype type);

/* Adds the current value of a control variable to the listing, and sets in `variable` where it is,
 * or why there is none. `room` has MQR_MAX_VALUE bytes, aligned for any type. */
void mqr_list_value(struct mqr_listing* listing, struct mqr_variable* variable, char* room);

#endif
