#pragma once

#include "host/doctor/checklist.h"
#include "host/document/sink.h"
#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mqbridge {

struct TextOptions {
  bool summary = false;                   ///< the table only
  bool full = false;                      ///< every rank, also above 8 of them
  std::optional<std::uint64_t> show = 20; ///< operations a queue; nullopt: all
  bool raw = false;                       ///< the DLL's own values too
  bool stats = false;                     ///< phases, round trips and bytes
  bool all_threads = false;               ///< of stacks: helper threads, too
  bool color = false;
  std::size_t width = 100; ///< columns
  int exit_status = 0;     ///< for the last line
};

/// If there are more ranks, the text is the table, with equal ranks folded, unless `full`.
inline constexpr std::size_t most_ranks_in_full = 8;

/// The dump for people, as docs/reference/output.md shows it. Names that came from the target are
/// made printable. An unknown queue is named so: it never looks like an empty one.
void write_text(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The verdict of a dump that has one: the ranks that cannot go on, the ranks that cause it, the
/// places to look at, and what was not visible. write_text() writes it below the table of ranks.
void write_verdict(const Dump& dump, const TextOptions& options, const Sink& sink);

/// How many ranks were seen, and the verdict, in at most 25 lines unless `full` or `stats`. Where
/// there is no verdict: why.
void write_why(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The call stacks of all ranks as a tree, with the same care.
void write_stacks(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The variables of all ranks, or a result from them: the differences between ranks, or the ranks
/// with long queues of unexpected messages.
void write_variables(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The handles of all ranks: tables of listed ones, and all facts about those that were asked for.
void write_handles(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The checklist for people (docs/reference/output.md, doctor).
void write_text(const Checklist& checklist, const TextOptions& options, const Sink& sink);

/// The checklists of a job's nodes, equal ones once, and the expected cost of a dump of all ranks.
void write_text(const JobChecklist& job, const TextOptions& options, const Sink& sink);

} // namespace mqbridge
