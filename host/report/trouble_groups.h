#pragma once

#include "host/job/findings.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// Troubles of several nodes that are alike.
struct TroubleGroup {
  const FindTrouble* example = nullptr; ///< the first one
  std::vector<std::string> nodes;       ///< of all; empty names are this host
  std::size_t processes = 0;            ///< of all
};

/// In order of the first of each. Alike are those whose words differ in the node's name alone. The
/// troubles outlive the groups.
std::vector<TroubleGroup> group_troubles(std::span<const FindTrouble> troubles);

} // namespace mqbridge
