#ifndef MQBRIDGE_DLL_RECORDER_MPI_SOCKET_MARK_H
#define MQBRIDGE_DLL_RECORDER_MPI_SOCKET_MARK_H

/* The two ends of a connected socket, the same at both: at most MQR_MARK_SIZE bytes, terminated.
 * Empty where it has no addresses. */
void mqr_mark_socket(int socket, char* mark);

#endif
