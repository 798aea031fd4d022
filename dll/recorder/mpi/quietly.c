#include "dll/recorder/mpi/quietly.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static MPI_Errhandler silence(MPI_Comm comm) {
  MPI_Errhandler handler;
  mqr_mpi.Comm_get_errhandler(comm, &handler);
  mqr_mpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return handler;
}

static void restore(MPI_Comm comm, MPI_Errhandler* handler) {
  mqr_mpi.Comm_set_errhandler(comm, *handler);
  mqr_mpi.Errhandler_free(handler);
}

struct mqr_quiet mqr_quietly(void) {
  pthread_mutex_lock(&lock);
  return (struct mqr_quiet){silence(MPI_COMM_WORLD), silence(MPI_COMM_SELF)};
}

void mqr_aloud(struct mqr_quiet* quiet) {
  restore(MPI_COMM_SELF, &quiet->self);
  restore(MPI_COMM_WORLD, &quiet->world);
  pthread_mutex_unlock(&lock);
}
