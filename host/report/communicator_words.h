#pragma once

#include "host/dump/values/document.h"
#include "host/report/operation_rows.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// What reports say of a communicator and of its queues beside their operations.

/// "rank 0 of 4", "internal", "global ranks 2,0", "to global ranks 4-7"; at least one.
std::vector<std::string> facts_of(const Communicator& communicator);

/// Lines for keys of communicators that `text` mentions, and whose names are the MPI's: "C1
/// MPI_COMM_WORLD", "C3 a duplicate of C1 MPI_COMM_WORLD".
std::vector<std::string> names_of_mentioned(const Dump& dump, std::string_view text);

/// Whether operations of the program itself are listed; `with_returned`: sends that have returned
/// count.
bool has_own_operations(const Communicator& communicator, bool with_returned);

/// The line about sends that have returned. Empty: there are none.
std::string returned_line(const Dump& dump, const Communicator& communicator);

/// One line about queues without operations: "send, recv: none that the debug DLL lists". Queues
/// that the rank as a whole has a statement about are left out.
std::string idle_queues(const RankDump& rank, const Communicator& communicator);

/// What is to be said below the operations of a queue: that filters left some out, that there are
/// none (`say_empty`), why they are not all. Empty for most.
std::vector<std::string> queue_states(const RankDump& rank, const Queue& queue, OpClass op_class,
                                      bool say_empty);

/// Says once, in the note of a queue's first such row, who it is that lists what the debug DLL does
/// not.
void add_source(const RankDump& rank, OperationRow& row, bool& said);

/// Lines about a queue that are true in every communicator of a rank: "unexpected messages: not
/// provided by Open MPI", "sends: blocking sends are not listed", "unexpected messages: those not
/// polled yet are not listed". Equal lines of several ranks come once.
std::vector<std::string> common_states(const std::vector<const RankDump*>& ranks);

} // namespace mqbridge
