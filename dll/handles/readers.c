#include "dll/handles/reader.h"

/* An MPI's own memory says what is true now; a recorder adds who called. */
const struct reader* const handles_readers[] = {&handles_openmpi, &handles_mpich, &handles_recorder,
                                                NULL};
_Static_assert(sizeof handles_readers / sizeof *handles_readers <= HANDLES_READERS + 1,
               "room for those of one process");
