#pragma once

#include "host/dump/document.h"
#include "rsp/result.h"

#include <string>
#include <vector>

namespace mqbridge {

/// A document, and what a message calls it: its file's name.
struct NamedDump {
  std::string name;
  Dump dump;
};

/// One document of many. Those of different ranks are parts of one job. Of a rank that several have
/// the newest (stopped_at, else taken_at) is its state, and the others are earlier looks
/// (Dump::earlier, oldest first, those of the documents among them). Communicators are named anew,
/// C1, C2, ..., the same one alike on all ranks. At least one document.
///
/// Error: analyze.jobs, where documents show one rank as different processes, or jobs of different
/// sizes under one name.
Result<Dump> join_documents(std::vector<NamedDump> documents);

} // namespace mqbridge
