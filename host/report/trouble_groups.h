#pragma once

#include "host/job/job_search.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// Equal troubles of several nodes.
struct TroubleGroup {
  const FindTrouble* example = nullptr; ///< the first one
  std::vector<std::string> nodes;       ///< of all; empty names are this host
  std::size_t processes = 0;            ///< of all
};

/// Groups troubles whose texts differ only in the node's name. In the order of each group's first
/// one. The troubles outlive the groups.
std::vector<TroubleGroup> group_troubles(std::span<const FindTrouble> troubles);

} // namespace mqbridge
