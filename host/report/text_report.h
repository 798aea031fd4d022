#pragma once

#include "host/doctor/checklist.h"
#include "host/document/sink.h"
#include "host/dump/document.h"

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

/// Above so many ranks the text is the table, groups of alike ranks folded, unless `full`.
inline constexpr std::size_t most_ranks_in_full = 8;

/// The dump for people, as docs/reference/output.md shows it. Names that came from the target are
/// made printable. What is unknown says so: it never looks like an empty queue.
void write_text(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The verdict of a dump that has one: what cannot end, because of whom, where to look, and what
/// was not visible. write_text() has it behind the ranks.
void write_verdict(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The call stacks of all ranks as a tree, with the same care.
void write_stacks(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The variables of all ranks, or what was made of them: where ranks differ, which have long queues
/// of unexpected messages.
void write_variables(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The handles of all ranks: tables of those that were listed, and all that is known of those that
/// were asked for.
void write_handles(const Dump& dump, const TextOptions& options, const Sink& sink);

/// The checklist for people (docs/reference/output.md, doctor).
void write_text(const Checklist& checklist, const TextOptions& options, const Sink& sink);

/// The checklists of a job's nodes, those alike once, and what a dump of all will take.
void write_text(const JobChecklist& job, const TextOptions& options, const Sink& sink);

} // namespace mqbridge
