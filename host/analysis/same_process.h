#pragma once

#include "host/dump/document.h"

namespace mqbridge {

/// Whether two looks at one rank are known to show different processes. Only what both know can
/// tell them apart.
inline bool are_different_processes(const RankDump& one, const RankDump& other) {
  const auto differ = [](const auto& its, const auto& others) {
    return its && others && *its != *others;
  };
  return differ(one.pid, other.pid) || differ(one.host, other.host) ||
         differ(one.world_size, other.world_size);
}

} // namespace mqbridge
