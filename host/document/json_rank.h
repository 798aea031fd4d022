#pragma once

#include "host/document/json_writer.h"
#include "host/dump/document.h"

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

/// A word that the schema has as null where it is empty.
void write_or_null(JsonWriter& json, std::string_view key, std::string_view text);

/// The member `errors`, of a rank or of the document.
void write_errors(JsonWriter& json, const std::vector<RankError>& errors);

/// "0x1f"
std::string address_text(std::uint64_t address);
void write_address(JsonWriter& json, std::string_view key,
                   const std::optional<TargetAddress>& address);

/// The members `site`, `function`, `file` and `line`, where it is known where.
void write_site(JsonWriter& json, const SharedSite& site);

/// The schema's `communicator`.
void write_communicator(JsonWriter& json, const Communicator& communicator, RankMembers members);

/// The members `blocked_in` and `stacks`; nullopt is null.
void write_blocked_in(JsonWriter& json, const std::optional<std::vector<BlockedCall>>& calls);
void write_stacks(JsonWriter& json, const std::optional<std::vector<ThreadStack>>& stacks);

/// The member `variables`, where there are some.
void write_variables(JsonWriter& json, const std::optional<ProcessVariables>& variables);

/// The members `variable_differences` and `unexpected_lengths` of a document that has them.
void write_variable_findings(JsonWriter& json, const Dump& dump);

/// The member `handles`, where there are some.
void write_handles(JsonWriter& json, const std::optional<ProcessHandles>& handles);

/// The schema's `runs`.
void write_runs(JsonWriter& json, std::span<const std::int64_t> values);
void write_runs(JsonWriter& json, const std::vector<Run>& runs);

/// The member `changes` of an analysis.
void write_changes(JsonWriter& json, const Changes& changes);

/// The member `analysis`; nullopt is null.
void write_analysis(JsonWriter& json, const std::optional<Analysis>& analysis);

} // namespace mqbridge
