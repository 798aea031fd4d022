#pragma once

#include "bench/queue_walk/cell.h"
#include "host/memory/page_runs.h"
#include "rsp/result.h"

#include <filesystem>
#include <istream>

namespace mqbridge::bench {

class Stage;

/// The pages that reads of a trace (--trace) asked for, whichever request was used.
PageRuns pages_of_trace(std::istream& trace);

/// Writes the pages that a dump of the cell's target looks at, a line "ADDRESS COUNT" for each run.
/// It finds them with a plain page cache, which asks for a page only when it is needed.
Result<void> write_touched_pages(Stage& stage, const Cell& cell, const std::filesystem::path& file);

} // namespace mqbridge::bench
