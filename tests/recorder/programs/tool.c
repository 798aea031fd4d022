/* Another PMPI tool, to be preloaded before the recorder or after it. Each of its calls tells the
 * program, which exports recorder_test_inside(). */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

static void tell(const char* function) {
  void (*const inside)(const char*) =
      (void (*)(const char*))dlsym(RTLD_DEFAULT, "recorder_test_inside");
  if (inside != NULL)
    inside(function);
}

/* The program says whether MPI has other variables now, if it wants to. */
int PMPI_T_category_changed(int* stamp) {
  int (*const changed)(int*) = (int (*)(int*))dlsym(RTLD_DEFAULT, "recorder_test_changed");
  *stamp = 1;
  return changed != NULL ? changed(stamp) : MPI_SUCCESS;
}

#define INTERCEPTED(name, parameters, arguments)                                                   \
  int name parameters {                                                                            \
    tell(#name);                                                                                   \
    return P##name arguments;                                                                      \
  }
INTERCEPTED(MPI_Send,
            (const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
            (buffer, count, type, peer, tag, comm))
INTERCEPTED(MPI_Ssend,
            (const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
            (buffer, count, type, peer, tag, comm))
INTERCEPTED(MPI_Recv,
            (void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
             MPI_Status* status),
            (buffer, count, type, peer, tag, comm, status))
INTERCEPTED(MPI_Probe, (int peer, int tag, MPI_Comm comm, MPI_Status* status),
            (peer, tag, comm, status))
INTERCEPTED(MPI_Mprobe,
            (int peer, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
            (peer, tag, comm, message, status))
INTERCEPTED(MPI_Sendrecv,
            (const void* sent, int send_count, MPI_Datatype send_type, int to, int send_tag,
             void* received, int receive_count, MPI_Datatype receive_type, int from,
             int receive_tag, MPI_Comm comm, MPI_Status* status),
            (sent, send_count, send_type, to, send_tag, received, receive_count, receive_type, from,
             receive_tag, comm, status))
INTERCEPTED(MPI_Wait, (MPI_Request * request, MPI_Status* status), (request, status))
INTERCEPTED(MPI_Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
            (count, requests, statuses))
INTERCEPTED(MPI_Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status),
            (count, requests, index, status))
INTERCEPTED(MPI_Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
            (buffer, count, type, root, comm))
INTERCEPTED(MPI_Comm_free, (MPI_Comm * comm), (comm))
INTERCEPTED(MPI_Comm_create_keyval,
            (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* delete, int* keyval,
             void* extra),
            (copy, delete, keyval, extra))
INTERCEPTED(MPI_Win_fence, (int assertion, MPI_Win window), (assertion, window))
INTERCEPTED(MPI_File_write_at_all,
            (MPI_File file, MPI_Offset at, const void* buffer, int count, MPI_Datatype type,
             MPI_Status* status),
            (file, at, buffer, count, type, status))
INTERCEPTED(MPI_Finalize, (void), ())
