#pragma once

#include "host/dump/values/document.h"
#include "rsp/result.h"

#include <string>
#include <vector>

namespace mqbridge {

/// Whether two looks at one rank show different processes for certain. Only facts that both looks
/// have can tell them apart.
inline bool are_different_processes(const RankDump& one, const RankDump& other) {
  const auto differ = [](const auto& its, const auto& others) {
    return its && others && *its != *others;
  };
  return differ(one.pid, other.pid) || differ(one.host, other.host) ||
         differ(one.world_size, other.world_size);
}

/// A document, and its name in messages: the name of its file.
struct NamedDump {
  std::string name;
  Dump dump;
};

/// Makes one document of many. Documents with different ranks are parts of one job. If several
/// documents have a rank, the newest (by stopped_at, else taken_at) gives its state, and the others
/// are earlier looks (Dump::earlier, oldest first; earlier looks within the documents are among
/// them). Communicators get new names, C1, C2, ..., the same for one communicator on all ranks.
/// Takes at least one document.
///
/// Error: analyze.jobs, if documents show one rank as different processes, or jobs of different
/// sizes under one name.
Result<Dump> join_documents(std::vector<NamedDump> documents);

} // namespace mqbridge
