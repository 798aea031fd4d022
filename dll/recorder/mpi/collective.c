#include "dll/recorder/mpi/collective.h"

struct mqr_entered mqr_enter_collective_on(const struct mqr_call* call, enum mqr_function function,
                                           const struct mqr_comm* comm, int32_t root) {
  struct mqr_entered entered = {function, comm, 0, root};
  struct mqr_call_spec spec = {.function = function, .site = call->site, .root = root};
  if (entered.comm != NULL) {
    entered.sequence = mqr_communicator_enter_collective(entered.comm->recorded);
    spec.communicator = entered.comm->recorded;
    spec.has_sequence = 1;
    spec.sequence = entered.sequence;
  }
  mqr_enter(&spec);
  mqr_sample_in(function);
  return entered;
}

struct mqr_entered mqr_enter_collective(const struct mqr_call* call, enum mqr_function function,
                                        MPI_Comm handle, int32_t root) {
  return mqr_enter_collective_on(call, function, mqr_comm_of(handle), root);
}

/* Whether MPI has refused the arguments before anything else. */
static int is_refusal(int class) {
  switch (class) {
  case MPI_ERR_BUFFER:
  case MPI_ERR_COUNT:
  case MPI_ERR_TYPE:
  case MPI_ERR_COMM:
  case MPI_ERR_ROOT:
  case MPI_ERR_GROUP:
  case MPI_ERR_OP:
  case MPI_ERR_TOPOLOGY:
  case MPI_ERR_DIMS:
  case MPI_ERR_ARG:
  case MPI_ERR_INFO:
    return 1;
  default:
    return 0;
  }
}

void mqr_leave_collective(const struct mqr_entered* entered, int result) {
  int class = MPI_ERR_OTHER;
  if (entered->comm != NULL && result != MPI_SUCCESS) {
    mqr_mpi.Error_class(result, &class);
    if (is_refusal(class))
      mqr_communicator_refuse_collective(entered->comm->recorded);
    else if (class != MPI_ERR_TRUNCATE) /* which says that it took place */
      mqr_note_gap();
  }
  mqr_leave();
}

int32_t mqr_root_of(int root) {
  if (root == MPI_ROOT)
    return MQR_IS_ROOT;
  return root >= 0 ? root : MQR_NO_ROOT;
}

void mqr_collective_posted(const struct mqr_call* call, const struct mqr_entered* entered,
                           int result, const MPI_Request* request) {
  if (entered->comm == NULL || result != MPI_SUCCESS || *request == MPI_REQUEST_NULL ||
      mqr_is_shared_request(*request))
    return;
  const struct mqr_collective_spec spec = {.function = entered->function,
                                           .sequence = entered->sequence,
                                           .root = entered->root,
                                           .request = MQR_HANDLE(*request),
                                           .site = call->site};
  struct mqr_recorded_collective* begun = NULL;
  mqr_collective_begin(entered->comm->recorded, &spec, &begun);
}
