#include "host/document/json_report.h"

#include "host/document/json_parts.h"
#include "host/document/json_writer.h"
#include "host/document/names.h"
#include "host/document/outcome.h"
#include "host/dump/values/ranges.h"

#include <type_traits>

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

void write_tool(JsonWriter& json, const JsonOptions& options) {
  json.member("schema", "mqbridge.dump/1");
  json.key("tool").begin_object(Layout::one_line);
  json.member("name", "mqbridge");
  json.member("version", options.tool_version);
  json.end();
}

void write_job(JsonWriter& json, const Dump& dump) {
  json.key("job").begin_object(Layout::one_line);
  json.member("size", dump.job_size);
  json.member("source", dump.job_source);
  json.member("skew_ms", dump.skew_ms);
  json.member("stalled_ms", dump.stalled_ms);
  json.end();
}

std::string_view plain(OpClass queue) {
  return name_of(queue);
}

template <class T>
const T& plain(const T& value) {
  return value;
}

template <class T>
void write_filter(JsonWriter& json, Filter filter, const std::vector<T>& values) {
  if (values.empty())
    return;
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (filter.of == FilterOf::ranks)
      return write_runs(json.key(filter.name), values);
  json.key(filter.name).begin_array();
  for (const T& value : values)
    json.value(plain(value));
  json.end();
}

template <Worded E>
void write_filter(JsonWriter& json, Filter filter, const std::optional<E>& value) {
  if (value)
    json.member(filter.name, name_of(*value));
}

void write_filters(JsonWriter& json, const Filters& filters) {
  json.key("filters").begin_object(Layout::one_line);
  if (filters.no_queues) {
    json.key("queue").begin_array();
    json.end();
  }
  each_filter([&](Filter filter, const auto& values) { write_filter(json, filter, values); },
              filters);
  json.end();
}

void write_ranks(JsonWriter& json, const std::vector<RankDump>& ranks, const JsonOptions& options,
                 RankMembers members) {
  if (!options.ranks)
    return;
  json.key("ranks").begin_array();
  for (const RankDump& rank : ranks) {
    json.begin_object();
    write_rank_members(json, rank, members);
    json.end();
  }
  json.end();
}

void write_earlier(JsonWriter& json, const std::vector<EarlierLook>& looks,
                   const JsonOptions& options) {
  if (looks.empty()) {
    json.member("earlier", nullptr);
    return;
  }
  json.key("earlier").begin_array();
  for (const EarlierLook& look : looks) {
    json.begin_object();
    json.member("taken_at", look.taken_at);
    write_ranks(json, look.ranks, options, {.raw = options.raw, .statistics = false});
    json.end();
  }
  json.end();
}

} // namespace

void write_json(const Dump& dump, const JsonOptions& options, const Sink& sink) {
  JsonWriter json(sink, Layout::lines);
  json.begin_object();
  write_tool(json, options);
  if (!dump.taken_at.empty())
    json.member("taken_at", dump.taken_at);
  write_job(json, dump);
  write_ranks(json, dump.ranks, options, {.raw = options.raw});
  write_analysis(json, dump.analysis);
  write_variable_findings(json, dump);
  write_filters(json, dump.filters);
  write_errors(json, dump.errors);
  write_earlier(json, dump.earlier, options);
  json.end();
  json.end_line();
}

void write_ndjson_header(const Dump& dump, const JsonOptions& options, const Sink& sink) {
  JsonWriter json(sink, Layout::one_line);
  json.begin_object();
  json.member("type", "header");
  write_tool(json, options);
  if (!dump.taken_at.empty())
    json.member("taken_at", dump.taken_at);
  write_job(json, dump);
  write_filters(json, dump.filters);
  json.end();
  json.end_line();
}

void write_ndjson_rank(const RankDump& rank, const JsonOptions& options, const Sink& sink) {
  JsonWriter json(sink, Layout::one_line);
  json.begin_object();
  json.member("type", "rank");
  write_rank_members(json, rank, {.raw = options.raw, .keys = false});
  json.end();
  json.end_line();
}

void write_ndjson_earlier(const RankDump& rank, const std::string& taken_at,
                          const JsonOptions& options, const Sink& sink) {
  JsonWriter json(sink, Layout::one_line);
  json.begin_object();
  json.member("type", "earlier");
  json.member("taken_at", taken_at);
  write_rank_members(json, rank, {.raw = options.raw, .statistics = false, .keys = false});
  json.end();
  json.end_line();
}

void write_ndjson_summary(const Dump& dump, const Sink& sink) {
  const Outcome outcome = outcome_of(dump);
  JsonWriter json(sink, Layout::one_line);
  json.begin_object();
  json.member("type", "summary");
  write_job(json, dump);
  json.key("ranks").begin_object();
  json.member("total", outcome.total());
  json.member("ok", outcome.complete);
  json.member("partial", outcome.partial);
  json.member("failed", outcome.failed);
  json.end();
  write_analysis(json, dump.analysis);
  write_variable_findings(json, dump);
  write_errors(json, dump.errors);
  json.end();
  json.end_line();
}

} // namespace mqbridge
