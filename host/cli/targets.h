#pragma once

#include "host/dump/document.h"
#include "host/dump/workshop.h"
#include "host/job/job_request.h"

#include <filesystem>
#include <optional>
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

/// Finds the targets, and writes the file of --save. Errors: job.no_rank (nothing was found; the
/// message has why), targets.unwritable, output.write.
Result<ChosenTargets> choose_targets(const TargetChoice& choice, Workshop& workshop,
                                     std::stop_token stop);

/// The name of where the targets come from, before they are found.
std::string source_of(const TargetChoice& choice);

} // namespace mqbridge
