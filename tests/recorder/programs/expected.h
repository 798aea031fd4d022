#ifndef MQBRIDGE_TESTS_RECORDER_EXPECTED_H
#define MQBRIDGE_TESTS_RECORDER_EXPECTED_H

/* A program's own log of what it has asked MPI for, compared with what the recorder keeps in the
 * same process. Reads the layout by itself. Without a recorder nothing is compared, and the rest of
 * the program is as it was: RECORDER_TEST_RECORDED in the environment asks for one. */

#include "dll/recorder/functions.h"
#include "dll/recorder/layout.h"

#include <mpi.h>

/* Ends the job, unless it holds. */
#define REQUIRE(condition) require((condition) != 0, #condition, __FILE__, __LINE__)
void require(int holds, const char* condition, const char* file, int line);

const struct mqr_root* recorder(void); /* NULL: there is none */

/* From here on check() looks at the communicator, by this name. */
void expect_communicator(MPI_Comm comm, const char* name);
void expect_freed(const char* name);
/* A flag beside those of the layout, of sends: MPI may have had the message at once, and then says
 * so by the request. */
#define EXPECT_PERHAPS 0x8000U
/* The program has begun an operation: at the end of its queue. The result is for expect_end(). */
int expect_begin(const char* name, enum mqr_queue queue, uint32_t function, int peer, int tag,
                 uint64_t bytes, uint32_t flags);
/* The program knows that it is complete. */
void expect_end(int operation);
/* So many messages more, and sends that have returned. */
void expect_count(const char* name, int peer, int tag, int sent, int received);
void expect_returned(const char* name, uint32_t more);
void expect_collectives(const char* name, uint32_t more);
void expect_under_way(const char* name, uint32_t count);

/* All of it against the recorder's lists. `line`: the step. */
void check_at(int line);
#define CHECK() check_at(__LINE__)

const struct mqr_communicator* recorded_communicator(const char* name);
/* The operation of a queue with this tag; NULL: none. */
const struct mqr_operation* recorded_operation(const char* name, enum mqr_queue queue, int tag);
/* The call that this thread is in; NULL: the recorder does not know the thread. */
const struct mqr_thread* recorded_thread(void);

/* Prints how it went: the last word of each rank. */
void passed(const char* what);

#endif
