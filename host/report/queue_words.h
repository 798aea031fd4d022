#pragma once

#include "host/dump/document.h"
#include "host/dump/operation_counts.h"

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

/// What stands for a queue that was read to its end and has no operation of the program's own. A
/// debug DLL does not list all that its MPI waits for, so that "empty" would be a claim; only the
/// recorder keeps every operation that it stands for.
std::string_view nothing_listed(const RankDump& rank, OpClass op_class);

/// "(read by mqbridge from ob1)", and not by the debug DLL.
std::string read_by_mqbridge(const RankDump& rank);

/// What a queue that was read to its end hides of its own class, whatever it lists ("blocking sends
/// are not listed"). Empty for most.
std::string_view never_listed(const RankDump& rank, OpClass op_class);

/// long_state() where it is that of the MPI or of the question, and so the same in every
/// communicator of the rank: not provided, bypassed by the transport, not asked for. It is said
/// once a rank. Empty: every communicator has its own.
std::string common_state(const RankDump& rank, OpClass op_class);

/// The walk ended before its end: communicators that it never came to are in no list.
bool was_cut_short(const RankDump& rank);

/// The name as people know it: predefined communicators bare, others in quotation marks.
std::string display_name(const Communicator& communicator);

/// Queue::total without what the MPI does inside collectives, and without sends that have returned,
/// as far as they are in the document.
/// nullopt: the walk did not end.
std::optional<std::uint64_t> own_total(const Queue& queue, const OperationCounts& counts);

/// "3"; "3, 2 done, 1 inactive". `bound` stands behind the number of pending ones: "3/1000".
std::string counts_text(const OperationCounts& counts, std::string_view bound = {});

/// Operations of one class in all communicators of a rank, for a table cell: "3" pending; "3, 2
/// done" where complete ones are listed, too; "3/1000" where filters left 3; "500+" where more may
/// be there; "n/a" not exposed by this MPI; "?" unknown; "-" not asked for.
std::string count_text(const RankDump& rank, OpClass op_class);

} // namespace mqbridge
