#pragma once

#include <mpi.h>

// Scenarios for a verdict: jobs that are deadlocked, and jobs that are not but look like it. What
// the verdict must be stands in tests/e2e/harness/verdict_cases.cpp; it follows from the code of
// the scenario alone.

/// One rank in a scenario.
struct scene {
  const char* directory; ///< job_files.h
  char** argv;           ///< of the program, for those that spawn another one
  int rank;              ///< in MPI_COMM_WORLD
  int size;
  int number; ///< of ready.NUMBER: the rank; of a spawned process the first job's size more
};

struct scenario {
  const char* name;
  /// Calls scene_ready() as the last thing before it blocks, works, or returns to MPI_Finalize.
  void (*run)(const struct scene* s);
  int threads; ///< that are asked of MPI: 0 is MPI_THREAD_SINGLE
};

// Each ends with a scenario that has no name.
extern const struct scenario message_scenarios[];
extern const struct scenario waiting_scenarios[];
extern const struct scenario collective_scenarios[];
extern const struct scenario group_scenarios[];
extern const struct scenario thread_scenarios[];
extern const struct scenario work_scenarios[];
extern const struct scenario moving_scenarios[];
extern const struct scenario together_scenarios[];

/// Bytes of messages: one that is sent eagerly, one that waits for its receive.
enum { small = 8, large = 4 << 20 };
enum { usual_tag = 17 };

void scene_ready(const struct scene* s);
/// Whether the test said go. Looks every few milliseconds at most, however often it is called.
int scene_over(const struct scene* s);
/// Computes, outside of MPI, until the test says go.
void scene_work(const struct scene* s);
void scene_work_for(int milliseconds);
/// Zeroed memory for a large message.
void* scene_buffer(void);
/// A communicator of these two ranks of MPI_COMM_WORLD; MPI_COMM_NULL elsewhere. All ranks.
MPI_Comm scene_pair(const struct scene* s, int first, int second);

// Says that the rank is ready, and calls.
void recv_from(const struct scene* s, int peer, int tag, MPI_Comm comm);
void ssend_to(const struct scene* s, int peer, int tag, MPI_Comm comm);
void send_large_to(const struct scene* s, int peer, int tag, MPI_Comm comm);

// Only calls.
void send_small(int peer, int tag, MPI_Comm comm);
void recv_small(int peer, int tag, MPI_Comm comm);
MPI_Request irecv_small(int peer, int tag, MPI_Comm comm);
