#include "dll/recorder/mpi/call.h"

_Thread_local struct mqr_here mqr_here;
int mqr_active;

/* Nobody below the recorder has the function that was called. */
static int missing_function(void) {
  return MPI_ERR_OTHER;
}

mqr_any_function* mqr_resolve(mqr_any_function** cache, const char* name, const void* site) {
  mqr_any_function* found = mqr_find_function(name, site);
  if (found == NULL)
    return (mqr_any_function*)missing_function; /* until an MPI is loaded */
  __atomic_store_n(cache, found, __ATOMIC_RELAXED);
  return found;
}

void mqr_left_by_a_jump(void) {
  mqr_here.jumped = 0;
  mqr_leave();
  mqr_note_gap(); /* nobody knows what became of what it had begun */
}
