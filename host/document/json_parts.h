#pragma once

#include "host/document/json_writer.h"
#include "host/dump/values/document.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

struct RankMembers {
  bool raw = false;       ///< the DLL's own values where they differ
  bool statistics = true; ///< false: of an earlier look
  bool keys = true;       ///< of communicators; false: not all ranks are known yet
};

/// The members of the schema's `rank`, into an object that the caller has begun.
void write_rank_members(JsonWriter& json, const RankDump& rank, RankMembers members);

/// A word; an empty text is null in the schema.
void write_or_null(JsonWriter& json, std::string_view key, std::string_view text);

/// The member `errors`, of a rank or of the document.
void write_errors(JsonWriter& json, const std::vector<RankError>& errors);

/// "0x1f"
std::string address_text(std::uint64_t address);

/// The members `variable_differences` and `unexpected_lengths` of a document that has them.
void write_variable_findings(JsonWriter& json, const Dump& dump);

/// The schema's `runs`.
void write_runs(JsonWriter& json, std::span<const std::int64_t> values);
void write_runs(JsonWriter& json, const std::vector<Run>& runs);

/// The member `analysis`; nullopt is null.
void write_analysis(JsonWriter& json, const std::optional<Analysis>& analysis);

} // namespace mqbridge
