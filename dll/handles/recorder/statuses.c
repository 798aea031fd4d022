/* An MPI_Status is memory of the program; the recorder says where its members lie. */

#include "dll/handles/recorder/recording.h"

enum { most_bytes = 256 }; /* of a status */

#define OFFSET(member) RECORDED(target_u16, recording->handles, mqr_handles, member)

/* Open MPI has a size_t and an int. */
static void add_openmpi(const mqs_process_info* process, const struct recording* recording,
                        const unsigned char* bytes, struct mpidbg_status_description* more) {
  const struct target* const target = &process->target;
  const unsigned char* const at = bytes + OFFSET(status_bytes);
  more->bytes = target->address_size == 8 ? target_u64(target, at) : target_u32(target, at);
  more->cancelled = target_i32(target, bytes + OFFSET(status_cancelled)) != 0;
  more->known |= MPIDBG_KNOWN_ACTUAL_BYTES | MPIDBG_KNOWN_CANCELLED;
}

/* MPICH has two ints; a bit of the second one tells whether the operation was cancelled. */
static void add_mpich(const mqs_process_info* process, const struct recording* recording,
                      const unsigned char* bytes, struct mpidbg_status_description* more) {
  const struct target* const target = &process->target;
  const unsigned char* const at = bytes + OFFSET(status_bytes);
  const uint64_t high = target_u32(target, at + sizeof(uint32_t));
  more->bytes = (high >> 1) << 32 | target_u32(target, at);
  more->cancelled = (high & 1) != 0;
  more->known |= MPIDBG_KNOWN_ACTUAL_BYTES | MPIDBG_KNOWN_CANCELLED;
  enum { ANY_SOURCE = -2, PROC_NULL = -1 }; /* as mpi.h of MPICH has them */
  if (more->source == ANY_SOURCE || more->source == PROC_NULL)
    more->source = more->source == ANY_SOURCE ? MPIDBG_ANY_SOURCE : MPIDBG_PROC_NULL;
}

static int is_inside(const mqs_process_info* process, const struct recording* recording) {
  const unsigned size = OFFSET(status_size);
  const unsigned width = sizeof(uint64_t); /* of the widest member */
  return size <= most_bytes && OFFSET(status_source) + 4U <= size &&
         OFFSET(status_tag) + 4U <= size && OFFSET(status_error) + 4U <= size &&
         OFFSET(status_bytes) + width <= size + 4U && OFFSET(status_cancelled) + 4U <= size;
}

int recorder_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                    struct status_answer* answer) {
  struct recording* const recording = state;
  const int code = recording_look(process, recording);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (address ==
          recording_constant(process, recording, offsetof(struct mqr_handles, status_ignore)) ||
      address ==
          recording_constant(process, recording, offsetof(struct mqr_handles, statuses_ignore))) {
    answer->flags = MPIDBG_STATUS_INFO_PREDEFINED;
    return MPIDBG_SUCCESS;
  }
  unsigned char bytes[most_bytes + sizeof(uint64_t)] = {0};
  if (!is_inside(process, recording) ||
      !handles_fetch(process, address, OFFSET(status_size), bytes))
    return MPIDBG_ERR_UNAVAILABLE;
  struct mpidbg_status_description* const more = &answer->more;
  more->source = target_i32(&process->target, bytes + OFFSET(status_source));
  more->tag = target_i32(&process->target, bytes + OFFSET(status_tag));
  more->error = target_i32(&process->target, bytes + OFFSET(status_error));
  more->known |= MPIDBG_KNOWN_ACTUAL | MPIDBG_KNOWN_ERROR;
  if (OFFSET(status_kind) == MQR_STATUS_OPENMPI)
    add_openmpi(process, recording, bytes, more);
  else if (OFFSET(status_kind) == MQR_STATUS_MPICH)
    add_mpich(process, recording, bytes, more);
  return MPIDBG_SUCCESS;
}
