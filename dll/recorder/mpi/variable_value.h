#ifndef MQBRIDGE_DLL_RECORDER_MPI_VARIABLE_VALUE_H
#define MQBRIDGE_DLL_RECORDER_MPI_VARIABLE_VALUE_H

#include "dll/recorder/mpi/tool_interface.h"
#include "dll/recorder/variables.h"

/* Fills in what a variable of this datatype holds: `datatype`, `form` and `element`. */
void mqr_describe_value(struct mqr_variable* variable, MPI_Datatype type);

/* The current value of a control variable goes into the listing, and `variable` says where, or why
 * there is none. `room` has MQR_MAX_VALUE bytes, aligned for
 * any type. */
void mqr_list_value(struct mqr_listing* listing, struct mqr_variable* variable, char* room);

#endif
