#pragma once

#include "host/analysis/join.h"
#include "rsp/result.h"

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace mqbridge {

/// The documents of files, JSON or NDJSON as their contents are; "-" is stdin. NDJSON may hold
/// several, one behind the other; one that has no summary was cut off, and has a warning
/// (document.cut) that says so. All of them take no more memory than `most_bytes`, about.
///
/// Errors, which name the file: document.open, and those of DocumentReader.
Result<std::vector<NamedDump>> read_documents(const std::vector<std::string>& files,
                                              std::uint64_t most_bytes);

/// The same of one stream, called `name`.
Result<std::vector<NamedDump>> read_documents(std::istream& text, const std::string& name,
                                              std::uint64_t most_bytes);

} // namespace mqbridge
