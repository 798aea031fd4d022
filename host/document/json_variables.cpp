#include "host/document/member_writer.h"
#include "host/dump/values/document.h"

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

/// Ranks whose number is known as runs, the others by their endpoints.
void write_ranks(JsonWriter& json, const Dump& dump, const std::vector<std::size_t>& indexes) {
  std::vector<std::int64_t> numbers;
  std::vector<std::string_view> endpoints;
  for (const std::size_t index : indexes)
    if (const RankDump& rank = dump.ranks[index]; rank.rank)
      numbers.push_back(*rank.rank);
    else
      endpoints.emplace_back(rank.endpoint);
  json.begin_object(Layout::one_line);
  json.key("ranks");
  write_runs(json, numbers);
  json.key("endpoints").begin_array();
  for (const std::string_view endpoint : endpoints)
    json.value(endpoint);
  json.end();
  json.end();
}

void write_ranks(JsonWriter& json, std::string_view key, const Dump& dump,
                 const std::vector<std::size_t>& indexes) {
  json.key(key);
  write_ranks(json, dump, indexes);
}

void write_opinion(JsonWriter& json, const Dump& dump, const VariableOpinion& opinion) {
  json.begin_object();
  json.member("exists", opinion.exists);
  write_value(json.key("value"), opinion.value);
  write_or_null(json, "name", opinion.name);
  write_or_null(json, "set_by", opinion.set_by);
  write_ranks(json, "of", dump, opinion.ranks);
  json.end();
}

void write_difference(JsonWriter& json, const Dump& dump, const VariableDifference& difference) {
  json.begin_object();
  json.member("kind", name_of(difference.kind));
  json.member("name", difference.name);
  write_or_null(json, "object", difference.object);
  write_value(json.key("scope"), difference.scope);
  json.member("majority", difference.majority);
  json.key("values").begin_array();
  for (const VariableOpinion& opinion : difference.opinions)
    write_opinion(json, dump, opinion);
  json.end();
  write_ranks(json, "unknown", dump, difference.unknown);
  json.end();
}

void write_names(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.key(key).begin_array();
  for (const std::string& name : names)
    json.value(name);
  json.end();
}

void write_differences(JsonWriter& json, const Dump& dump, const JobVariableDifferences& job) {
  json.begin_object();
  json.member("job_id", job.job_id);
  write_ranks(json, "of", dump, job.ranks);
  write_ranks(json, "without", dump, job.without);
  json.member("compared", job.compared);
  json.member("unread", job.unread);
  json.key("differences").begin_array();
  for (const VariableDifference& difference : job.differences)
    write_difference(json, dump, difference);
  json.end();
  json.key("left_out").begin_object();
  json.member("performance", job.performance);
  write_names(json, "own", job.own);
  write_names(json, "addresses", job.addresses);
  json.end();
  json.end();
}

void write_lengths(JsonWriter& json, const Dump& dump, const UnexpectedLengths& lengths) {
  json.key("unexpected_lengths").begin_object();
  json.member("longer_than", lengths.longer_than);
  json.key("queues").begin_array();
  for (const UnexpectedLength& queue : lengths.queues) {
    json.begin_object(Layout::one_line);
    json.member("rank", dump.ranks[queue.rank].rank);
    json.member("endpoint", dump.ranks[queue.rank].endpoint);
    json.member("variable", queue.variable);
    write_or_null(json, "object", queue.object);
    json.member("length", queue.length);
    write_value(json.key("peers"), queue.peers);
    json.member("earlier", queue.earlier);
    json.member("age_s", queue.age_s);
    json.end();
  }
  json.end();
  write_ranks(json, "counted", dump, lengths.counted);
  write_ranks(json, "unknown", dump, lengths.unknown);
  json.end();
}

} // namespace

void write_variable_findings(JsonWriter& json, const Dump& dump) {
  if (dump.variable_differences) {
    json.key("variable_differences").begin_array();
    for (const JobVariableDifferences& job : *dump.variable_differences)
      write_differences(json, dump, job);
    json.end();
  }
  if (dump.unexpected_lengths)
    write_lengths(json, dump, *dump.unexpected_lengths);
}

} // namespace mqbridge
