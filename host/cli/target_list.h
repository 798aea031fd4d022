#pragma once

#include "host/dump/target_spec.h"
#include "rsp/result.h"

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mqbridge {

/// Targets, each process once, and each rank of a job once.
class TargetList {
public:
  /// Error: usage.
  Result<void> add(TargetSpec target);
  const std::vector<TargetSpec>& targets() const { return targets_; }
  std::vector<TargetSpec> take() { return std::move(targets_); }

private:
  std::vector<TargetSpec> targets_;
  std::unordered_set<std::string> known_; ///< processes, and ranks of jobs
};

} // namespace mqbridge
