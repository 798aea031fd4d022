#include "dll/recorder/mpi/library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

/* Open MPI names its own debug DLL. Another MPI that does so needs -DMQR_MPI_NAMES_ITS_DLL when the
 * recorder is built. */
#if !defined(OPEN_MPI) && !defined(MQR_MPI_NAMES_ITS_DLL)
#include "dll/recorder/dll_name.h"
#endif

struct mqr_asked mqr_mpi;
#ifdef OPEN_MPI
struct mqr_objects mqr_object;
#endif

/* Looks in the global symbols (`where`). A language binding may have loaded its MPI for itself
 * alone: then the caller's own libraries are asked. */
static void* find(void* where, const char* name, const void* site) {
  void* const next = dlsym(where, name);
  Dl_info caller;
  struct link_map* object = NULL;
  if (next != NULL || site == NULL ||
      dladdr1(site, &caller, (void**)&object, RTLD_DL_LINKMAP) == 0 || object == NULL)
    return next;
  void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL)
    return NULL;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

/* A program may have its own copy of an MPI's object, and then everybody uses that copy. */
static void* find_object(const char* name, const void* site) {
  return find(RTLD_DEFAULT, name, site);
}

mqr_any_function* mqr_find_function(const char* name, const void* site) {
  return (mqr_any_function*)find(RTLD_NEXT, name, site);
}

int mqr_open_library(const void* site, const char** problem) {
#define MQR_FIND(name)                                                                             \
  *problem = "PMPI_" #name;                                                                        \
  mqr_mpi.name = (__typeof__(&PMPI_##name))mqr_find_function("PMPI_" #name, site);                 \
  if (mqr_mpi.name == NULL)                                                                        \
    return 0;
  MQR_ASKED(MQR_FIND)
  MQR_ASKED_FOR_FORTRAN(MQR_FIND)
#undef MQR_FIND
#ifdef OPEN_MPI
#define MQR_FIND(name)                                                                             \
  *problem = #name;                                                                                \
  mqr_object.name = find_object(#name, site);                                                      \
  if (mqr_object.name == NULL)                                                                     \
    return 0;
  MQR_OBJECTS(MQR_FIND)
#undef MQR_FIND
#endif
#ifndef OPEN_MPI
  *problem = "another MPI than Open MPI";
  if (find_object("ompi_mpi_comm_world", site) != NULL)
    return 0;
#endif
  *problem = NULL;
  return 1;
}

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
