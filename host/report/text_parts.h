#pragma once

#include "host/report/paint.h"
#include "host/report/rank_groups.h"
#include "host/report/table.h"
#include "host/report/text_report.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// The parts of the text report, each in a file of its own. Each writes whole lines.

class IdleCommunicators;
class SharedErrors;

struct TextContext {
  const Dump& dump;
  const TextOptions& options;
  const Sink& sink;
  Paint paint;

  void line(std::string_view text = {}) const;
};

/// "mqbridge dump   3 ranks, 2 complete, 1 FAILED    job stalled 53 ms"
void write_header(const TextContext& context, std::string_view command);
/// "shown only: rank 0-3; queue send"; nothing if there are no filters.
void write_filters(const TextContext& context);
bool is_folded(const TextContext& context);

/// Whether there are several jobs: then each has its own numbering, and a heading.
bool has_several_jobs(const Dump& dump);
bool has_several_hosts(const Dump& dump);
/// The number before the launcher's name of a job, where there are several: "2"; "?": not known.
std::string job_number(const RankDump& rank);
/// "Job 2 (1894252546)"
std::string job_heading(const RankDump& rank);
/// "3", "-" where it is not known.
std::string rank_number(const RankDump& rank);

/// "Rank 3", "Ranks 0-510:2", "Ranks 0-3 of job 2"; the start of a long list.
std::string group_name(const TextContext& context, const RankGroup& group);
/// "  on n[01-04]" where the ranks are folded, and on several hosts; else empty.
std::string group_place(const TextContext& context, const RankGroup& group);
/// Names the targets of a group, if their ranks do not tell them.
void write_targets(const TextContext& context, const RankGroup& group);

/// Writes pieces one behind the other, in as many lines as the width needs. A line may only end
/// before a piece that starts with blanks; the next one has `indent` blanks in their place.
void write_flow(const TextContext& context, const std::vector<Cell>& pieces,
                std::size_t indent = 2);

/// The rank's place, short: its host; if that is not known, the serial line's device, or the
/// command that leads there.
std::string place_text(const RankDump& rank);

void write_rank_table(const TextContext& context);
void write_folded_table(const TextContext& context, const std::vector<RankGroup>& groups);
/// "Rank 3  in MPI_Recv at halo.c:212   ./solver   DLL libompi_dbg_msgq.so"
void write_heading(const TextContext& context, const RankDump& rank);
/// The contents of the folded table's rows, communicator by communicator, and their errors. Writes
/// nothing if `shared` has all of it.
void write_group_details(const TextContext& context, const RankGroup& group,
                         const SharedErrors& shared);
/// Likewise; without the communicators of `idle`.
void write_rank(const TextContext& context, const RankDump& rank, const IdleCommunicators& idle,
                const SharedErrors& shared);
void write_communicators(const TextContext& context, const RankDump& rank,
                         const IdleCommunicators& idle);
/// The first of level error; nullptr: none.
const RankError* first_error(const RankDump& rank);
/// The errors that this rank alone has.
void write_errors(const TextContext& context, const RankDump& rank, const SharedErrors& shared);
/// The errors of no rank. They are written even if only the table is wanted, which has none of
/// them.
void write_errors_of_no_rank(const TextContext& context);
/// Each rank's own errors, and those of several ranks once.
void write_troubles(const TextContext& context);
/// For a dump that has variable_differences.
void write_differences(const TextContext& context);
/// For a dump that has unexpected_lengths.
void write_unexpected_lengths(const TextContext& context);
/// Messages in lines of the report's width, then "fix: ..." where there is a hint.
void write_message(const TextContext& context, Style style, const std::string& message,
                   const std::string& hint);
void write_statistics(const TextContext& context);
/// The end of a report: errors of no rank, statistics where they are asked for, write_exit().
void write_end(const TextContext& context);
/// The exit status, where it is not 0.
void write_exit(const TextContext& context);
/// For a dump that has an analysis. `with_names`: also the names of communicators, where no list of
/// them follows.
void write_verdict(const TextContext& context, bool with_names);
/// For a dump whose analysis has changes.
void write_changes(const TextContext& context);

} // namespace mqbridge
