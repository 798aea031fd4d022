#include "dll/recorder/mpi/call.h"

#include <dlfcn.h>
#include <string.h>

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
  mqr_variables_left_by_a_jump();
  mqr_leave();
  mqr_note_gap(); /* nobody knows what became of what it had begun */
}

static const void* object_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Callbacks may make and free what is no message: nothing is missing then. */
static int makes_no_message(const char* name) {
  const char* const behind = strchr(name, '_') + 1;
  return strncmp(behind, "Comm_", 5) == 0 || strncmp(behind, "Type_", 5) == 0 ||
         strncmp(behind, "Win_", 4) == 0;
}

/* A call within a recorded one. MPI and tools call from objects of their own; the program's
 * callbacks lie where the program does. */
void mqr_called_within(const char* name, const void* site) {
  static _Thread_local const void* others[8][2]; /* pairs of sites that were looked at */
  const void** const known = others[(uintptr_t)site / 4 % 8];
  if ((known[0] == site && known[1] == mqr_here.site) || makes_no_message(name))
    return;
  const void* const caller = object_of(site);
  void* mpi = NULL;
  memcpy(&mpi, &mqr_mpi.Isend, sizeof mpi);
  if (caller != NULL && caller == object_of(mqr_here.site) && caller != object_of(mpi)) {
    mqr_note_gap();
  } else {
    known[0] = site;
    known[1] = mqr_here.site;
  }
}
