#include "host/document/names.h"
#include "host/dump/variable_text.h"
#include "host/report/tsv_line.h"
#include "host/report/tsv_report.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace mqbridge {
namespace {

enum class Field : std::size_t {
  kind,
  rank,
  pid,
  host,
  endpoint,
  state,
  name,
  object,
  value,
  value_name,
  set_by,
  type,
  verbosity,
  scope,
  class_,
  binding,
  readonly,
  continuous,
  atomic,
  categories,
  context,
  earlier,
  age_s,
  reason,
  message,
  hint,
  description,
};

constexpr std::array<std::string_view, 27> titles = {
    "kind",    "rank",    "pid",        "host",       "endpoint", "state",      "name",
    "object",  "value",   "value_name", "set_by",     "type",     "verbosity",  "scope",
    "class",   "binding", "readonly",   "continuous", "atomic",   "categories", "context",
    "earlier", "age_s",   "reason",     "message",    "hint",     "description"};

class Line : public TsvLine<Field, titles.size()> {
public:
  using TsvLine::TsvLine;

  template <class T>
  void set_word(Field field, const std::optional<T>& value) {
    if (value)
      set(field, name_of(*value));
  }
};

std::string category_names(const Variable& variable, const ProcessVariables& all) {
  std::vector<std::string> names;
  for (const auto index : variable.categories)
    if (index < all.categories.size())
      names.push_back(all.categories[index].name);
  return fmt::format("{}", fmt::join(names, ","));
}

void write_variable(const RankDump& rank, const Variable& variable, const Sink& sink) {
  Line line(name_of(variable.kind), rank);
  line.set(Field::name, variable.name);
  line.set(Field::set_by, variable.set_by);
  line.set(Field::type, variable.datatype);
  line.set_word(Field::verbosity, variable.verbosity);
  line.set_word(Field::scope, variable.scope);
  line.set_word(Field::class_, variable.pvar_class);
  line.set_word(Field::binding, variable.binding);
  line.set_flag(Field::readonly, variable.readonly);
  line.set_flag(Field::continuous, variable.continuous);
  line.set_flag(Field::atomic, variable.atomic);
  line.set(Field::categories, category_names(variable, *rank.variables));
  line.set(Field::description, variable.description);
  if (variable.readings.empty()) {
    line.set(Field::state, "unknown");
    return line.write(sink);
  }
  for (const VariableReading& reading : variable.readings) {
    Line own = line;
    own.set(Field::state, reading.value ? "known" : "unknown");
    own.set(Field::object, reading.object);
    if (reading.value) {
      own.set(Field::value, value_text(*reading.value));
      own.set(Field::value_name, value_name(*reading.value, variable, *rank.variables));
    }
    if (reading.context)
      own.set(Field::context, fmt::format("{:#x}", *reading.context));
    if (reading.value)
      own.set_flag(Field::earlier, reading.earlier);
    own.set_number(Field::age_s, reading.age_s);
    own.set(Field::reason, reading.reason);
    own.write(sink);
  }
}

void write_rank(const RankDump& rank, const Sink& sink) {
  Line line("rank", rank);
  line.set(Field::state, name_of(rank.status));
  line.write(sink);
  for (const RankError& error : rank.errors)
    Line(name_of(error.level), rank).write_error(error, sink);
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
          Line line("difference", dump.ranks[index]);
          const bool most = difference.majority && &opinion == &difference.opinions.front();
          line.set(Field::state, !opinion.exists ? "absent" : most ? "majority" : "other");
          line.set(Field::name, difference.name);
          line.set(Field::object, difference.object);
          if (opinion.value)
            line.set(Field::value, value_text(*opinion.value));
          line.set(Field::value_name, opinion.name);
          line.set(Field::set_by, opinion.set_by);
          line.set_word(Field::scope, difference.scope);
          line.write(sink);
        }
}

} // namespace

void write_variables_tsv(const Dump& dump, const Sink& sink) {
  write_titles(titles, sink);
  for (const RankDump& rank : dump.ranks)
    write_rank(rank, sink);
  for (const RankError& error : dump.errors)
    Line(name_of(error.level)).write_error(error, sink);
  if (dump.variable_differences)
    write_differences(dump, sink);
}

} // namespace mqbridge
