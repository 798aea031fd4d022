#include "host/service/look_summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr std::size_t most_listed = 16;
constexpr std::size_t longest_text = 500;

/// null: it has no such member, or is no object. A document says what a job's memory said.
json member(const json& value, const char* name) {
  const auto found = value.is_object() ? value.find(name) : value.end();
  return found == value.end() ? json() : *found;
}

json text_of(const json& value) {
  return value.is_string() ? json(value.get<std::string>().substr(0, longest_text)) : json();
}

json number_of(const json& value) {
  return value.is_number() ? value : json();
}

/// The first ones of a list of texts, each cut.
json first_of(const json& list) {
  json kept = json::array();
  for (const json& text : list)
    if (kept.size() < most_listed && text.is_string())
      kept.push_back(text.get_ref<const std::string&>().substr(0, longest_text));
  return kept;
}

/// Of a summary line with all its waits, which may be long, the few members that are kept.
bool is_wanted(int depth, json::parse_event_t event, json& parsed) {
  constexpr std::array names = {"type",         "job",   "ranks",      "stalled_ms", "analysis",
                                "verdict",      "looks", "confidence", "core_ranks", "look_at",
                                "unchanged_ms", "total", "ok",         "partial",    "failed"};
  return event != json::parse_event_t::key || depth > 2 ||
         std::ranges::any_of(names, [&](const char* name) { return parsed == name; });
}

json analysis_of(const json& analysis) {
  if (!analysis.is_object())
    return nullptr;
  const json core = member(analysis, "core_ranks");
  return {{"verdict", text_of(member(analysis, "verdict"))},
          {"confidence", text_of(member(analysis, "confidence"))},
          {"unchanged_ms", number_of(member(analysis, "unchanged_ms"))},
          {"looks", number_of(member(analysis, "looks"))},
          {"core_size", core.is_array() ? core.size() : 0},
          {"look_at", first_of(member(analysis, "look_at"))}};
}

json ranks_of(const json& ranks) {
  if (!ranks.is_object())
    return nullptr;
  json kept;
  for (const char* const name : {"total", "ok", "partial", "failed"})
    kept[name] = number_of(member(ranks, name));
  return kept;
}

} // namespace

std::string printed(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     milliseconds % 1000);
}

json summary_of(const LookFacts& facts, const DocumentLines& document) {
  const json line = json::parse(document.last(), is_wanted, false);
  const bool is_whole = member(line, "type") == "summary";
  json summary = {{"id", facts.id},
                  {"job", facts.job},
                  {"taken_at", facts.taken_at},
                  {"duration_ms", facts.duration_ms},
                  {"error", facts.error.empty() ? json() : json(facts.error)},
                  {"processes", document.processes()},
                  {"ranks", nullptr},
                  {"stalled_ms", nullptr},
                  {"analysis", nullptr}};
  if (!is_whole) {
    if (facts.error.empty())
      summary["error"] = "the document is cut off";
    return summary;
  }
  summary["ranks"] = ranks_of(member(line, "ranks"));
  summary["stalled_ms"] = number_of(member(member(line, "job"), "stalled_ms"));
  summary["analysis"] = analysis_of(member(line, "analysis"));
  return summary;
}

bool is_summary(const json& value) {
  if (!value.is_object())
    return false;
  const json shape = summary_of({}, {});
  const auto has_all = [](const json& of, const json& members) {
    return std::ranges::all_of(members.items(),
                               [&](const auto& member) { return of.contains(member.key()); });
  };
  const json analysis = member(value, "analysis");
  const json ranks = member(value, "ranks");
  return has_all(value, shape) && value["id"].is_string() && value["taken_at"].is_string() &&
         value["duration_ms"].is_number() &&
         (analysis.is_null() ||
          (analysis.is_object() && has_all(analysis, analysis_of(json::object())))) &&
         (ranks.is_null() || (ranks.is_object() && has_all(ranks, ranks_of(json::object()))));
}

bool is_as_stuck(const json& before, const json& after) {
  const auto is_deadlock = [](const json& look) {
    return look["analysis"].is_object() && look["analysis"]["verdict"] == "deadlock" &&
           look["analysis"]["confidence"] != "possible";
  };
  return is_deadlock(before) && is_deadlock(after) && before["processes"] == after["processes"] &&
         before["analysis"]["core_size"] == after["analysis"]["core_size"] &&
         before["analysis"]["look_at"] == after["analysis"]["look_at"];
}

} // namespace mqbridge
