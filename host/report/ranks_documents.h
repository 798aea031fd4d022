#pragma once

#include "host/document/sink.h"
#include "host/job/job_search.h"

#include <string_view>

namespace mqbridge {

/// The results of a search as JSON: docs/reference/ranks.schema.json.
void write_json(const FoundJobs& findings, std::string_view tool_version, const Sink& sink);

/// Tab separated values: a header line with the names of the columns, then a line for each rank
/// (`kind` rank), fault and warning, every line with every column. What is not known is empty.
/// Texts are escaped as in the TSV of a dump.
void write_tsv(const FoundJobs& findings, const Sink& sink);

} // namespace mqbridge
