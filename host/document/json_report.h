#pragma once

#include "host/document/sink.h"
#include "host/dump/values/document.h"

#include <string>

namespace mqbridge {

struct JsonOptions {
  std::string tool_version;
  bool raw = false;  ///< `raw` of an operation: the DLL's own values where they differ
  bool ranks = true; ///< false: the document without its ranks, and without those of earlier looks
};

/// The dump document of docs/reference/dump.schema.json ("mqbridge.dump/1"), keys in the schema's
/// order, an operation a line. Model fields that are not known are null.
void write_json(const Dump& dump, const JsonOptions& options, const Sink& sink);

// NDJSON: a line for each of `header` (schema, tool, job), then `rank` as each completes (the
// schema's rank; communicator keys are null, since they need all ranks), `earlier` for each rank of
// an earlier look, last `summary`, with the analysis. Every call writes one whole line; calls come
// one at a time.
void write_ndjson_header(const Dump& dump, const JsonOptions& options, const Sink& sink);
void write_ndjson_rank(const RankDump& rank, const JsonOptions& options, const Sink& sink);
void write_ndjson_earlier(const RankDump& rank, const std::string& taken_at,
                          const JsonOptions& options, const Sink& sink);
void write_ndjson_summary(const Dump& dump, const Sink& sink);

} // namespace mqbridge
