/* An MPI_Status is an ompi_status_public_t in the program's memory. */

#include "dll/handles/openmpi/objects.h"

int openmpi_status(const mqs_process_info* process, void* state, mqs_taddr_t address,
                   struct status_answer* answer) {
  const struct openmpi* const openmpi = state;
  struct mpidbg_status_description* const more = &answer->more;
  int cancelled = 0;
  if (address == 0) { /* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE */
    answer->flags = MPIDBG_STATUS_INFO_PREDEFINED;
    return MPIDBG_SUCCESS;
  }
  if (!openmpi_int(process, openmpi, address, STATUS_SOURCE, &more->source) ||
      !openmpi_int(process, openmpi, address, STATUS_TAG, &more->tag) ||
      !openmpi_int(process, openmpi, address, STATUS_ERROR, &more->error))
    return MPIDBG_ERR_UNAVAILABLE;
  more->known = MPIDBG_KNOWN_ACTUAL | MPIDBG_KNOWN_ERROR;
  if (openmpi_word(process, openmpi, address, STATUS_BYTES, &more->bytes))
    more->known |= MPIDBG_KNOWN_ACTUAL_BYTES;
  if (openmpi_int(process, openmpi, address, STATUS_CANCELLED, &cancelled))
    more->known |= MPIDBG_KNOWN_CANCELLED;
  more->cancelled = cancelled != 0;
  return MPIDBG_SUCCESS;
}
