#pragma once

#include "host/dump/target/target_spec.h"
#include "host/dump/values/document.h"
#include "host/dump/workshop.h"
#include "host/job/job_search.h"
#include "rsp/result.h"

#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mqbridge {

/// A list of targets that has each process once, and each rank of a job once.
class TargetList {
public:
  /// Error: usage.
  Result<void> add(TargetSpec target);
  const std::vector<TargetSpec>& targets() const { return targets_; }
  std::vector<TargetSpec> take() { return std::move(targets_); }

private:
  std::vector<TargetSpec> targets_;
  std::unordered_set<std::string> known_; ///< processes and ranks in the list
};

/// The processes that a command is about: named ones, and those of jobs to be found.
struct TargetChoice {
  std::vector<TargetSpec> named;
  std::optional<JobRequest> job; ///< nullopt: only the named ones
  std::filesystem::path save;    ///< --save; empty: none
  /// The command, if nothing is named and `job` asks for all jobs of this host: there must be one.
  std::string sole_job_of = {};
};

struct ChosenTargets {
  std::vector<TargetSpec> targets;
  std::vector<RankError> troubles; ///< processes that could not be looked at, or are doubtful
  std::string source;              ///< for the document: "targets", "mpirun", "slurm", "node"
};

/// Finds the targets, which may be none, and writes the file of --save. Errors: usage (the same
/// process twice), job.no_rank and job.not_one (of sole_job_of), targets.unwritable, output.write.
Result<ChosenTargets> choose_targets(const TargetChoice& choice, Workshop& workshop,
                                     std::stop_token stop);

/// Writes the file of --save, if it was given. Without targets it writes none, so that a good file
/// stays. `faults` are written as comments. Errors: targets.unwritable, output.write.
Result<void> save_targets(const std::filesystem::path& path, std::span<const TargetSpec> targets,
                          std::span<const FindTrouble> faults);

/// Error: job.no_rank, if nothing was found; the message says why.
Result<void> require_targets(const ChosenTargets& chosen);

/// The name of the targets' source, before they are found.
std::string source_of(const TargetChoice& choice);

} // namespace mqbridge
