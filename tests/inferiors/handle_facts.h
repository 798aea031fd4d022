#pragma once

#include <mpi.h>
#include <stddef.h>

/// What a program knows of its handles, in DIRECTORY/handles.RANK: a line "KIND HANDLE KEY VALUE"
/// for each fact.

/// A handle as a debugger has it: an address, or an integer.
#define HANDLE(handle) handle_value(&(handle), sizeof(handle))
unsigned long long handle_value(const void* handle, size_t size);

void facts_begin(const char* directory, int rank);
__attribute__((format(printf, 4, 5))) void fact(const char* kind, unsigned long long handle,
                                                const char* key, const char* format, ...);
void facts_end(void);

/// Requests in each state, and statuses; handle_requests.c. `self` and `ranks` are those of
/// MPI_COMM_WORLD, `comm` is a duplicate of it.
void make_requests(MPI_Comm comm, int self, int ranks);
/// The last call of MPI: it takes that no other follows.
void make_a_request_that_is_matched(void);
