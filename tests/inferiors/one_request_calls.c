#include "tests/inferiors/one_request.h"

#include <string.h>

void begin(struct blocking_call* call) {
  if (strcmp(call->queue, "send") == 0)
    MPI_Issend(call->buffer, call->length, MPI_CHAR, call->peer, call->tag, MPI_COMM_WORLD,
               &call->request);
  else
    MPI_Irecv(call->buffer, call->length, MPI_CHAR, call->peer, call->tag, MPI_COMM_WORLD,
              &call->request);
}

static int number_of(const char* name) {
  static const char* const names[] = {"MPI_Recv", "MPI_Send", "MPI_Ssend", "MPI_Wait", "MPI_Probe"};
  int number = 0;
  while (number < (int)(sizeof names / sizeof *names) && strcmp(name, names[number]) != 0)
    ++number;
  return number;
}

#ifdef CALLS_IN_FORTRAN // one_request_calls.F90
void block_in_fortran(int call, void* buffer, int length, int peer, int tag, int begun);

void block_in(const struct blocking_call* call) {
  block_in_fortran(number_of(call->name), call->buffer, call->length, call->peer, call->tag,
                   (int)MPI_Request_c2f(call->request));
}
#else
void block_in(const struct blocking_call* call) {
  MPI_Request request = call->request;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  switch (number_of(call->name)) {
  case 0:
    MPI_Recv(call->buffer, call->length, MPI_CHAR, call->peer, call->tag, MPI_COMM_WORLD, &status);
    break;
  case 1:
    MPI_Send(call->buffer, call->length, MPI_CHAR, call->peer, call->tag, MPI_COMM_WORLD);
    break;
  case 2:
    MPI_Ssend(call->buffer, call->length, MPI_CHAR, call->peer, call->tag, MPI_COMM_WORLD);
    break;
  case 3:
    MPI_Wait(&request, &status);
    break;
  case 4:
    MPI_Probe(call->peer, call->tag, MPI_COMM_WORLD, &status);
    break;
  default:
    MPI_Mprobe(call->peer, call->tag, MPI_COMM_WORLD, &message, &status);
  }
}
#endif
