#pragma once

#include <mpi.h>

/// What a rank posted, as JSON lines in DIRECTORY/oracle.RANK, written from the program's own
/// variables and never from MPI's internals: the other side of the comparison with a dump.

enum operation_status { status_pending, status_matched, status_complete, status_inactive };
/// Of a buffered send: has MPI got rid of its copy?
enum operation_delivery { delivery_none, delivery_outstanding, delivery_done };

/// One operation as its poster knows it. Ranks are those of `comm`, lengths bytes.
struct posted_operation {
  const char* queue; ///< "send" or "receive"
  MPI_Comm comm;
  enum operation_status status;
  int peer;           ///< MPI_ANY_SOURCE allowed
  int tag;            ///< MPI_ANY_TAG allowed
  long length;        ///< -1: it asks for none
  const void* buffer; ///< NULL: it has none
  int buffer_unknown; ///< the MPI's own, wherever it is
  const char* kind;   ///< "mprobe", "message"; NULL: what `queue` says
  enum operation_delivery delivery;
  int system_buffer; ///< MPI copied the data away (buffered send)
  int has_actual;    ///< a receive that matched: the next three are what came
  int actual_peer;
  int actual_tag;
  long actual_length;
};

void oracle_begin(const char* directory, int rank);
/// The communicator with its name, group and this process's rank in it.
void oracle_communicator(MPI_Comm comm);
/// How many communicators the library made for itself, without a name of the program's and without
/// messages.
void oracle_internal_communicators(int count);
void oracle_operation(const struct posted_operation* operation);
/// Closes the file; what was written is complete.
void oracle_end(void);
