#include "host/document/json_rank.h"
#include "host/document/names.h"
#include "host/dump/document.h"

#include <variant>

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

template <class T>
void write_named(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  write_or_null(json, key, value ? name_of(*value) : std::string_view());
}

void write_text(JsonWriter& json, const std::string& text) {
  json.value(text);
}

/// One element is a number, not a list of one.
template <class T>
void write_text(JsonWriter& json, const std::vector<T>& elements) {
  if (elements.size() == 1) {
    json.value(elements.front());
    return;
  }
  json.begin_array(Layout::one_line);
  for (const T element : elements)
    json.value(element);
  json.end();
}

void write_value(JsonWriter& json, const std::optional<VariableValue>& value) {
  json.key("value");
  if (value)
    std::visit([&](const auto& content) { write_text(json, content); }, *value);
  else
    json.value(nullptr);
}

void write_reading(JsonWriter& json, const VariableReading& reading) {
  json.begin_object(Layout::one_line);
  write_value(json, reading.value);
  write_or_null(json, "object", reading.object);
  if (reading.context)
    json.member("context", address_text(*reading.context));
  else
    json.member("context", nullptr);
  json.member("earlier", reading.earlier);
  json.member("age_s", reading.age_s);
  write_or_null(json, "reason", reading.reason);
  json.end();
}

void write_indexes(JsonWriter& json, std::string_view key,
                   const std::vector<std::size_t>& indexes) {
  json.key(key).begin_array(Layout::one_line);
  for (const std::size_t index : indexes)
    json.value(std::uint64_t{index});
  json.end();
}

void write_variable(JsonWriter& json, const Variable& variable) {
  json.begin_object();
  json.member("kind", name_of(variable.kind));
  json.member("name", variable.name);
  write_or_null(json, "description", variable.description);
  write_named(json, "verbosity", variable.verbosity);
  write_or_null(json, "datatype", variable.datatype);
  if (variable.enumeration)
    json.member("enumeration", std::uint64_t{*variable.enumeration});
  else
    json.member("enumeration", nullptr);
  write_named(json, "binding", variable.binding);
  write_named(json, "scope", variable.scope);
  write_named(json, "class", variable.pvar_class);
  json.member("readonly", variable.readonly);
  json.member("continuous", variable.continuous);
  json.member("atomic", variable.atomic);
  write_indexes(json, "categories", variable.categories);
  write_or_null(json, "set_by", variable.set_by);
  json.key("readings").begin_array();
  for (const VariableReading& reading : variable.readings)
    write_reading(json, reading);
  json.end();
  json.end();
}

void write_category(JsonWriter& json, const VariableCategory& category) {
  json.begin_object(Layout::one_line);
  json.member("name", category.name);
  write_or_null(json, "description", category.description);
  write_indexes(json, "parents", category.parents);
  json.end();
}

void write_enumeration(JsonWriter& json, const VariableEnumeration& enumeration) {
  json.begin_object();
  json.member("name", enumeration.name);
  json.key("items").begin_array();
  for (const VariableEnumItem& item : enumeration.items) {
    json.begin_object(Layout::one_line);
    json.member("value", item.value);
    json.member("name", item.name);
    json.end();
  }
  json.end();
  json.end();
}

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
  write_value(json, opinion.value);
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
  write_named(json, "scope", difference.scope);
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
    write_indexes(json, "peers", queue.peers);
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

void write_variables(JsonWriter& json, const std::optional<ProcessVariables>& variables) {
  if (!variables)
    return; // as in documents of earlier versions
  json.key("variables").begin_object();
  json.key("sources").begin_array(Layout::one_line);
  for (const VariableSource source : variables->sources)
    json.value(name_of(source));
  json.end();
  json.member("whole", variables->whole);
  json.member("total", variables->total);
  json.member("listed_s", variables->listed_s);
  json.key("variables").begin_array();
  for (const Variable& variable : variables->variables)
    write_variable(json, variable);
  json.end();
  json.key("categories").begin_array();
  for (const VariableCategory& category : variables->categories)
    write_category(json, category);
  json.end();
  json.key("enumerations").begin_array();
  for (const VariableEnumeration& enumeration : variables->enumerations)
    write_enumeration(json, enumeration);
  json.end();
  json.end();
}

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
