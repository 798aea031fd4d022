#pragma once

#include "host/service/document_lines.h"

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace mqbridge {

/// "2026-11-30T09:58:21.333Z"
std::string time_text(std::chrono::system_clock::time_point time);

/// JSON of a value whose texts may have been cut, or come from a job: what is no UTF-8 is replaced.
std::string printed(const nlohmann::json& value);

/// A look that was taken, or was not: what lists of looks show of its document, which is bounded.
struct LookFacts {
  std::string id;
  std::string job;
  std::string taken_at;
  std::int64_t duration_ms = 0;
  std::string error = {}; ///< why there is no document, or not all of it; empty: all is well
};

/// `document`: all of its lines.
nlohmann::json summary_of(const LookFacts& facts, const DocumentLines& document);

/// Whether it is what summary_of() makes: a file may hold anything.
bool is_summary(const nlohmann::json& value);

/// Whether the job was, in the later one of two looks, deadlocked as it was before: the same
/// processes, as many of them, at the same place. Of a deadlock that is possible nobody can say so.
bool is_as_stuck(const nlohmann::json& before, const nlohmann::json& after);

} // namespace mqbridge
