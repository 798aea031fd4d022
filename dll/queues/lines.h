#ifndef MQBRIDGE_DLL_QUEUES_LINES_H
#define MQBRIDGE_DLL_QUEUES_LINES_H

/* Extra lines of an operation [MQD 5.5.2]. mqbridge takes facts from them that the interface has no
 * place for (host/mpi/recorder/recorded_operations.cpp). */
#define QUEUES_NODE "node 0x"              /* the structure's address follows */
#define QUEUES_RETURNED_BEGIN "returned: " /* of a struct mqr_returned; words follow */
#define QUEUES_RETURNED QUEUES_RETURNED_BEGIN "not known to have arrived"
#define QUEUES_INACTIVE "inactive"
#define QUEUES_PROBE "probe"
#define QUEUES_TIMES " x " /* COUNT x DATATYPE */

#endif
