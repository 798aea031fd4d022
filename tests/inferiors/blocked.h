#pragma once

#include "tests/inferiors/posting.h"

#include <mpi.h>

// Every rank but the last blocks in one MPI call on the last one, which releases them all when the
// test says go. Each blocked rank also holds a receive that is complete and that it does not wait
// for. A rank that is alone blocks on itself, for ever.

/// A receive from the last rank, complete. Collective over `comm`.
void blocked_prepare(struct posting* posting, MPI_Comm comm);

/// Posts what the rank will wait for, or says what its blocking call will post.
/// `scenario`: blocked_recv, blocked_ssend, blocked_wait, blocked_waitall, blocked_waitany.
void blocked_post(struct posting* posting, MPI_Comm comm, const char* scenario);

/// Blocks (the last rank: waits for `go`, then releases the others). Returns when all is done.
void blocked_run(struct posting* posting, MPI_Comm comm, const char* scenario,
                 const char* directory);
