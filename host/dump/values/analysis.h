#pragma once

#include "host/dump/values/changes.h"
#include "host/dump/values/ranges.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// The verdict on a job, as `analysis` of docs/reference/dump.schema.json has it. Ranks are those of
// the job `job_id` in MPI_COMM_WORLD; without it there is one job. nullopt means not known.

enum class Verdict : std::uint8_t { deadlock, no_deadlock, undecided };

/// In order: each is more than the one before.
enum class Confidence : std::uint8_t { possible, likely, certain };

enum class FindingKind : std::uint8_t {
  cycle,
  knot,
  partner_gone,
  partner_finalized,
  missing_partner,
  tag_mismatch,
  communicator_mismatch,
  source_mismatch,
  too_long,
  orphan_unexpected,
  never_started,
  rank_exited,
  collective_mismatch,
  collective_order,
  straggler,
  needs_progress,
  stuck_transport,
  polling,
  backlog,
  suspended,
  unknown_wait,
};

struct Finding {
  FindingKind kind = FindingKind::cycle;
  std::vector<Run> ranks;
  /// In words, without the kind: "0 -> 3 -> 0" of a cycle, "rank 3: MPI_Isend to 0 tag 71 pending;
  /// rank 0 waits for tag 17" of a tag_mismatch.
  std::string message;
  std::optional<std::string> job_id = {};
};

enum class WaitsFor : std::uint8_t { all, any };

/// Ranks of a job.
struct JobRanks {
  std::string job_id;
  std::vector<Run> ranks;
};

/// What one blocked thread waits for.
struct Wait {
  std::int64_t rank = 0;
  WaitsFor mode = WaitsFor::all;
  std::vector<Run> ranks; ///< the ranks of its own job that can end the wait
  std::string because;    ///< "MPI_Recv from 3 tag 17 on C1"
  /// Where the program calls: "halo.c:212"; "called by main" where no line is known.
  std::optional<std::string> place = {};
  std::optional<std::string> thread = {};
  std::optional<std::string> job_id = {};
  std::vector<JobRanks> elsewhere = {}; ///< ranks of other jobs that can end the wait
  bool unseen = false;                  ///< waits for something that is not in the document, too
};

/// Wait::place behind a call: " at halo.c:212", " called by main".
inline std::string at_place(std::string_view place) {
  if (place.empty())
    return "";
  return (place.starts_with("called by ") ? " " : " at ") + std::string(place);
}

/// The ranks of a verdict in one job.
struct JobVerdict {
  std::vector<Run> core;
  std::vector<Run> blocked;
};

struct Analysis {
  Verdict verdict = Verdict::undecided;
  std::optional<Confidence> confidence; ///< none of `undecided`
  std::vector<Run> core;                ///< of the cycle or knot, in the first job that has one
  std::vector<Run> blocked;             ///< ranks that only wait for the core, in that job
  std::vector<Wait> waits;              ///< of all blocked threads, by job and rank
  std::vector<Finding> findings;        ///< the most likely cause first
  std::vector<std::string> not_visible;
  std::vector<std::string> look_at; ///< the places most likely to be the cause, most likely first
  std::int64_t looks = 1;
  std::optional<double> unchanged_ms;       ///< between two looks that show the same core
  std::map<std::string, JobVerdict> by_job; ///< by job_id, where there are several jobs
  std::optional<Changes> changes;           ///< since an earlier document, where it was asked for
};

} // namespace mqbridge
