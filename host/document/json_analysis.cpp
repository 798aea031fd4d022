#include "host/document/json_rank.h"
#include "host/document/names.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts)
    json.value(text);
  json.end();
}

void write_wait(JsonWriter& json, const Wait& wait) {
  json.begin_object(JsonWriter::Layout::one_line);
  json.member("rank", wait.rank);
  json.member("mode", name_of(wait.mode));
  write_runs(json.key("for"), wait.ranks);
  json.member("because", wait.because);
  json.member("place", wait.place);
  json.member("thread", wait.thread);
  json.member("job_id", wait.job_id);
  json.member("unseen", wait.unseen);
  json.end();
}

void write_finding(JsonWriter& json, const Finding& finding) {
  json.begin_object();
  json.member("kind", name_of(finding.kind));
  write_runs(json.key("ranks"), finding.ranks);
  json.member("message", finding.message);
  json.member("job_id", finding.job_id);
  json.end();
}

void write_by_job(JsonWriter& json, const std::map<std::string, JobVerdict>& by_job) {
  if (by_job.empty()) {
    json.member("by_job", nullptr);
    return;
  }
  json.key("by_job").begin_object();
  for (const auto& [job_id, verdict] : by_job) {
    json.key(job_id).begin_object();
    write_runs(json.key("core"), verdict.core);
    write_runs(json.key("blocked"), verdict.blocked);
    json.end();
  }
  json.end();
}

} // namespace

void write_analysis(JsonWriter& json, const std::optional<Analysis>& analysis) {
  if (!analysis) {
    json.member("analysis", nullptr);
    return;
  }
  json.key("analysis").begin_object();
  json.member("verdict", name_of(analysis->verdict));
  json.key("confidence")
      .value(analysis->confidence ? std::optional(name_of(*analysis->confidence)) : std::nullopt);
  write_runs(json.key("core"), analysis->core);
  write_runs(json.key("blocked"), analysis->blocked);
  json.key("waits").begin_array();
  for (const Wait& wait : analysis->waits)
    write_wait(json, wait);
  json.end();
  json.key("findings").begin_array();
  for (const Finding& finding : analysis->findings)
    write_finding(json, finding);
  json.end();
  write_texts(json, "not_visible", analysis->not_visible);
  write_texts(json, "look_at", analysis->look_at);
  json.member("looks", analysis->looks);
  json.member("unchanged_ms", analysis->unchanged_ms);
  write_by_job(json, analysis->by_job);
  if (analysis->changes)
    write_changes(json, *analysis->changes);
  else
    json.member("changes", nullptr);
  json.end();
}

} // namespace mqbridge
