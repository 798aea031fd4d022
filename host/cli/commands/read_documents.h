#pragma once

#include "host/analysis/join.h"
#include "rsp/result.h"

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace mqbridge {

/// The documents in files, JSON or NDJSON, told apart by their contents; "-" is stdin. NDJSON may
/// hold several, one behind the other. A document without a summary was cut off, and gets a warning
/// that says so (document.cut). All of them together take about `most_bytes` of memory at most.
///
/// Errors, which name the file: document.open, and those of DocumentReader.
Result<std::vector<NamedDump>> read_documents(const std::vector<std::string>& files,
                                              std::uint64_t most_bytes);

/// The same of one stream, called `name`.
Result<std::vector<NamedDump>> read_documents(std::istream& text, const std::string& name,
                                              std::uint64_t most_bytes);

/// The job of which the documents in files are parts or looks, in half of the memory that is left.
/// Errors: also those of join_documents().
Result<Dump> read_job(const std::vector<std::string>& files);

} // namespace mqbridge
