#pragma once

#include "host/document/sink.h"
#include "host/job/job_search.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

struct RanksTextOptions {
  bool full = false; ///< a line for each rank, however many there are
  bool color = false;
  std::size_t width = 100;              ///< columns
  std::string saved = {};               ///< the targets file that was written; empty: none
  std::vector<std::string> search = {}; ///< words behind `mqbridge ranks` that found this
};

/// The results of a search, for people: each job with the command that dumps it, then nodes and
/// processes that could not be looked at or are doubtful. Many ranks are folded by their nodes.
/// Text from nodes is made printable.
void write_text(const FoundJobs& findings, const RanksTextOptions& options, const Sink& sink);

} // namespace mqbridge
