#include "host/document/variable_members.h"
#include "host/dump/values/variable_text.h"
#include "host/report/tsv_members.h"
#include "host/report/tsv_report.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace mqbridge {
namespace {

using namespace std::string_view_literals;

constexpr std::array variable_columns = {
    "kind"sv,      "rank"sv,       "pid"sv,        "host"sv,       "endpoint"sv, "state"sv,
    "name"sv,      "object"sv,     "value"sv,      "value_name"sv, "set_by"sv,   "type"sv,
    "verbosity"sv, "scope"sv,      "class"sv,      "binding"sv,    "readonly"sv, "continuous"sv,
    "atomic"sv,    "categories"sv, "context"sv,    "earlier"sv,    "age_s"sv,    "reason"sv,
    "message"sv,   "hint"sv,       "description"sv};

class VariableTsvLine : public TsvLine<variable_columns> {
public:
  using TsvLine::TsvLine;

  template <class T>
  void set_word(Column column, const std::optional<T>& value) {
    if (value)
      set(column, name_of(*value));
  }
};

constexpr TsvRename variable_renames[] = {{"kind", ""}, {"datatype", "type"}};
constexpr TsvRename reading_renames[] = {{"earlier", ""}};

std::string category_names(const Variable& variable, const ProcessVariables& all) {
  std::vector<std::string> names;
  for (const auto index : variable.categories)
    if (index < all.categories.size())
      names.push_back(all.categories[index].name);
  return fmt::format("{}", fmt::join(names, ","));
}

void write_variable(const RankDump& rank, const Variable& variable, const Sink& sink) {
  VariableTsvLine line(name_of(variable.kind), rank);
  TsvMembers(line, variable_renames).set(variable);
  line.set("categories", category_names(variable, *rank.variables));
  if (variable.readings.empty()) {
    line.set("state", "unknown");
    return line.write(sink);
  }
  for (const VariableReading& reading : variable.readings) {
    VariableTsvLine own = line;
    own.set("state", reading.value ? "known" : "unknown");
    TsvMembers(own, reading_renames).set(reading);
    if (reading.value) {
      own.set("value", value_text(*reading.value));
      own.set("value_name", value_name(*reading.value, variable, *rank.variables));
    }
    if (reading.value)
      own.set("earlier", reading.earlier ? "true" : "false");
    own.write(sink);
  }
}

void write_rank_and_variables(const RankDump& rank, const Sink& sink) {
  VariableTsvLine line("rank", rank);
  line.set("state", name_of(rank.status));
  line.write(sink);
  for (const RankError& error : rank.errors)
    VariableTsvLine(name_of(error.level), rank).write_error(error, sink);
  if (rank.variables)
    for (const Variable& variable : rank.variables->variables)
      write_variable(rank, variable, sink);
}

/// A line for each value and each rank that has it, in lines of kind "difference".
void write_differences(const Dump& dump, const Sink& sink) {
  for (const JobVariableDifferences& job : *dump.variable_differences)
    for (const VariableDifference& difference : job.differences)
      for (const VariableOpinion& opinion : difference.opinions)
        for (const auto index : opinion.ranks) {
          VariableTsvLine line("difference", dump.ranks[index]);
          const bool most = difference.majority && &opinion == &difference.opinions.front();
          line.set("state", !opinion.exists ? "absent" : most ? "majority" : "other");
          line.set("name", difference.name);
          line.set("object", difference.object);
          if (opinion.value)
            line.set("value", value_text(*opinion.value));
          line.set("value_name", opinion.name);
          line.set("set_by", opinion.set_by);
          line.set_word("scope", difference.scope);
          line.write(sink);
        }
}

} // namespace

void write_variables_tsv(const Dump& dump, const Sink& sink) {
  write_titles(variable_columns, sink);
  for (const RankDump& rank : dump.ranks)
    write_rank_and_variables(rank, sink);
  for (const RankError& error : dump.errors)
    VariableTsvLine(name_of(error.level)).write_error(error, sink);
  if (dump.variable_differences)
    write_differences(dump, sink);
}

} // namespace mqbridge
