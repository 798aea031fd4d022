#pragma once

#include "host/dump/values/document.h"
#include "host/dump/values/operation_counts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// "send", "recv", "unexp".
std::string_view short_name(OpClass op_class);

/// Why a queue shows no operations or not all of them, in a few words ("not provided", "transport
/// ucx bypasses the DLL"). Empty for a queue that was read to its end.
std::string short_state(const RankDump& rank, const Queue& queue);

/// The same as a line of its own ("not provided by Open MPI (unknown, not empty)").
std::string long_state(const RankDump& rank, const Queue& queue);

/// The text for a queue that was read to its end and has no operation of the program's own. It does
/// not say "empty", since a debug DLL does not list everything that its MPI waits for; only the
/// recorder lists every operation.
std::string_view nothing_listed(const RankDump& rank, OpClass op_class);

/// "(read by mqbridge from ob1)", and not by the debug DLL.
std::string read_by_mqbridge(const RankDump& rank);

/// Operations of this class that are never listed, whatever the queue shows ("blocking sends are
/// not listed"). Empty for most.
std::string_view never_listed(const RankDump& rank, OpClass op_class);

/// long_state() if it is the same in every communicator of the rank, because it comes from the MPI
/// or from the question: not provided, bypassed by the transport, not asked for. It is printed once
/// for each rank. Empty: every communicator has its own.
std::string common_state(const RankDump& rank, OpClass op_class);

/// The walk ended early: communicators that it did not reach are in no list.
bool was_cut_short(const RankDump& rank);

/// The name as people know it: predefined communicators bare, others in quotation marks.
std::string display_name(const Communicator& communicator);

/// Queue::total without the MPI's own operations inside collectives, and without sends that have
/// returned, as far as they are in the document. nullopt: the walk did not end.
std::optional<std::uint64_t> own_total(const Queue& queue, const OperationCounts& counts);

/// "3"; "3, 2 done, 1 inactive". `bound` stands behind the number of pending ones: "3/1000".
std::string counts_text(const OperationCounts& counts, std::string_view bound = {});

/// Operations of one class in all communicators of a rank, for a table cell: "3" pending; "3, 2
/// done" where complete ones are listed, too; "3/1000" where filters left 3; "500+" where more may
/// be there; "n/a" not exposed by this MPI; "?" unknown; "-" not asked for.
std::string count_text(const RankDump& rank, OpClass op_class);

} // namespace mqbridge
