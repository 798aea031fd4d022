#include "host/document/json_parts.h"

#include "host/document/analysis_members.h"
#include "host/document/member_writer.h"
#include "host/document/rank_members.h"
#include "host/dump/values/ranges.h"

#include <fmt/format.h>
#include <string_view>

namespace mqbridge {

void write_or_null(JsonWriter& json, std::string_view key, std::string_view text) {
  write_word(json.key(key), text);
}

std::string address_text(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

void write_runs(JsonWriter& json, std::span<const std::int64_t> values) {
  write_runs(json, to_runs(values));
}

void write_runs(JsonWriter& json, const std::vector<Run>& runs) {
  json.begin_array(one_line);
  for (const Run& run : runs) {
    json.begin_array();
    json.value(run.first);
    json.value(run.last);
    json.value(run.step);
    json.end();
  }
  json.end();
}

void write_errors(JsonWriter& json, const std::vector<RankError>& errors) {
  MemberWriter(json, {}).list("errors", errors);
}

void write_analysis(JsonWriter& json, const std::optional<Analysis>& analysis) {
  MemberWriter(json, {}).object("analysis", analysis);
}

void write_rank_members(JsonWriter& json, const RankDump& rank, RankMembers members) {
  MemberWriter(json, members).write(rank);
}

} // namespace mqbridge
