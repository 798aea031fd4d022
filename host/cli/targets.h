#pragma once

#include "host/dump/document.h"
#include "host/dump/workshop.h"
#include "host/job/findings.h"
#include "host/job/job_request.h"

#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

/// Which processes a command is about: those that were named, and those of the jobs to be found.
struct TargetChoice {
  std::vector<TargetSpec> named;
  std::optional<JobRequest> job; ///< nullopt: only those named
  std::filesystem::path save;    ///< --save; empty: none
};

struct ChosenTargets {
  std::vector<TargetSpec> targets;
  std::vector<RankError> troubles; ///< what could not be looked at, or is doubtful
  std::string source;              ///< for the document: "targets", "mpirun", "slurm", "node"
};

/// Finds the targets, which may be none, and writes the file of --save. Errors: usage (the same
/// process twice), targets.unwritable, output.write.
Result<ChosenTargets> choose_targets(const TargetChoice& choice, Workshop& workshop,
                                     std::stop_token stop);

/// Writes the file of --save, if there is one: none without targets, so that a good one stays.
/// `faults` stand in it as comments. Errors: targets.unwritable, output.write.
Result<void> save_targets(const std::filesystem::path& path, std::span<const TargetSpec> targets,
                          std::span<const FindTrouble> faults);

/// Error: job.no_rank, where nothing was found; the message has why.
Result<void> require_targets(const ChosenTargets& chosen);

/// The name of where the targets come from, before they are found.
std::string source_of(const TargetChoice& choice);

} // namespace mqbridge
