#include "host/document/names.h"
#include "host/dump/values/variable_text.h"
#include "host/report/fitted_text.h"
#include "host/report/rank_lists.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"
#include "host/report/variable_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

const std::vector<Variable> no_variables;

/// One rank's reading of a variable, or of one object of it.
struct Entry {
  const RankDump* rank;
  const Variable* variable;
  const VariableReading* reading; ///< null: it has none
};

/// How old readings are.
struct Ages {
  bool earlier = false; ///< at least one is from before the stop
  bool known = true;    ///< how long, of all of those
  double most_s = 0;

  void add(const VariableReading& reading) {
    if (!reading.value || !reading.earlier)
      return;
    earlier = true;
    known = known && reading.age_s;
    most_s = std::max(most_s, reading.age_s.value_or(0));
  }
  std::string text() const {
    return shown_time(earlier, known ? std::optional(most_s) : std::nullopt);
  }
};

/// Ranks that say the same.
struct VariableLine {
  Entry example;
  std::string value;
  Ranks ranks = {};
  Ages ages = {};
};

/// A variable, or one object of it, with what the ranks say.
struct VariableRow {
  std::vector<VariableLine> lines;
};

std::string name_of_value(const Entry& entry) {
  return entry.reading != nullptr && entry.reading->value
             ? value_name(*entry.reading->value, *entry.variable, *entry.rank->variables)
             : std::string();
}

/// Without its age, which is each rank's own.
std::string shown(const Entry& entry) {
  if (entry.reading == nullptr)
    return "?";
  const auto value = shown_value(entry.reading->value, name_of_value(entry));
  return entry.reading->reason.empty() ? value : value + "  " + printable(entry.reading->reason);
}

/// The variables of one kind and of one job, in the order of the first rank that has each.
class VariableRows {
public:
  VariableRows(const Ranks& ranks, VariableKind kind) {
    for (const RankDump* rank : ranks)
      if (rank->variables)
        for (const Variable& variable : rank->variables->variables)
          if (variable.kind == kind)
            add(rank, variable);
  }

  const std::vector<VariableRow>& rows() const { return rows_; }

private:
  using Key =
      std::tuple<std::string_view, std::optional<VariableClass>, std::string_view, std::size_t>;

  void add(const RankDump* rank, const Variable& variable) {
    if (variable.readings.empty())
      return add({rank, &variable, nullptr}, 0);
    std::map<std::string_view, std::size_t> seen; // objects may have the same name
    for (const VariableReading& reading : variable.readings)
      add({rank, &variable, &reading}, seen[reading.object]++);
  }

  void add(const Entry& entry, std::size_t which) {
    std::string_view object;
    if (entry.reading != nullptr)
      object = entry.reading->object;
    const auto [place, added] = places_.emplace(
        Key(entry.variable->name, entry.variable->pvar_class, object, which), rows_.size());
    if (added)
      rows_.emplace_back();
    auto& lines = rows_[place->second].lines;
    auto value = shown(entry);
    auto same = std::ranges::find_if(lines, [&](const VariableLine& line) {
      return line.value == value && line.example.variable->set_by == entry.variable->set_by;
    });
    if (same == lines.end())
      same = lines.insert(lines.end(), {entry, std::move(value)});
    same->ranks.push_back(entry.rank);
    if (entry.reading != nullptr)
      same->ages.add(*entry.reading);
  }

  std::vector<VariableRow> rows_;
  std::map<Key, std::size_t> places_;
};

/// A table of one kind of variable.
class VariableTable {
public:
  VariableTable(const TextContext& context, const Ranks& ranks, VariableKind kind)
      : context_(context), kind_(kind), rows_(ranks, kind),
        with_setters_(has_setters(rows_.rows())), with_ranks_(context.dump.ranks.size() > 1),
        table_(columns(), context.options.width) {}

  void write() {
    if (rows_.rows().empty())
      return;
    for (const VariableRow& row : rows_.rows())
      for (const VariableLine& line : row.lines)
        fit(row, line);
    const auto left_out = table_.narrow();
    context_.line();
    context_.line(table_.titles(context_.paint));
    for (const VariableRow& row : rows_.rows())
      write(row);
    if (left_out.empty())
      return;
    std::vector<std::string> names;
    for (const auto index : left_out)
      names.push_back(columns()[index].title);
    context_.line(fmt::format("no room for {}: --format tsv has them", fmt::join(names, ", ")));
  }

private:
  std::vector<Column> columns() const {
    const bool control = kind_ == VariableKind::control;
    std::vector<Column> columns = {{control ? "CONTROL VARIABLE" : "PERFORMANCE VARIABLE"},
                                   {.title = "LEVEL", .drop = 3},
                                   {.title = "TYPE", .drop = 4},
                                   {.title = control ? "SCOPE" : "CLASS", .drop = 2}};
    if (with_setters_)
      columns.push_back({"SET BY"});
    if (with_ranks_)
      columns.push_back({"RANKS"});
    columns.push_back({"VALUE"});
    return columns;
  }

  static bool has_setters(const std::vector<VariableRow>& rows) {
    return std::ranges::any_of(rows, [](const VariableRow& row) {
      return std::ranges::any_of(row.lines, [](const VariableLine& line) {
        return !line.example.variable->set_by.empty();
      });
    });
  }

  std::vector<Cell> cells(const VariableRow& row, const VariableLine& line) const {
    const Variable& variable = *line.example.variable;
    std::vector<Cell> cells(4);
    if (&line == &row.lines.front()) {
      const auto* const reading = line.example.reading;
      const bool bound = reading != nullptr && !reading->object.empty();
      cells[0].text = printable(variable.name) +
                      (bound ? fmt::format(" of {}", printable(reading->object)) : "");
      cells[1].text = variable.verbosity ? name_of(*variable.verbosity) : "?";
      cells[2].text = variable.datatype.empty() ? "?" : printable(variable.datatype);
      const auto scope = variable.scope ? name_of(*variable.scope) : std::string_view("?");
      const auto of_class =
          variable.pvar_class ? name_of(*variable.pvar_class) : std::string_view("?");
      cells[3].text = kind_ == VariableKind::control ? scope : of_class;
    }
    if (with_setters_)
      cells.push_back({printable(variable.set_by)});
    if (with_ranks_)
      cells.push_back({ranks_text(line.ranks, widest_ranks)});
    cells.push_back({line.value + age_text(line)});
    return cells;
  }

  /// Empty for control variables: they were all read at once, and the report says when only once.
  std::string age_text(const VariableLine& line) const {
    if (kind_ == VariableKind::control || !line.ages.earlier)
      return {};
    return (line.ranks.size() > 1 && line.ages.known ? "  up to " : "  ") + line.ages.text();
  }

  /// A long value goes beyond the width, and makes no other column narrower. A name or a file that
  /// is longer than most moves its own row alone.
  void fit(const VariableRow& row, const VariableLine& line) {
    constexpr std::size_t usual_value = 24;
    auto all = cells(row, line);
    all.front().text = clipped(all.front().text, context_.options.width / 2);
    if (with_setters_)
      all[4].text = clipped(all[4].text, context_.options.width / 6);
    all.back().text = clipped(all.back().text, usual_value);
    table_.fit(all);
  }

  void write(const VariableRow& row) const {
    for (const VariableLine& line : row.lines)
      context_.line(table_.line(cells(row, line), context_.paint));
    if (context_.options.full)
      write_details(row.lines.front().example);
  }

  /// Description, categories, and what the values of its enumeration mean.
  void write_details(const Entry& entry) const {
    const Variable& variable = *entry.variable;
    const ProcessVariables& all = *entry.rank->variables;
    write_detail(variable.description);
    std::vector<std::string> names;
    for (const auto index : variable.categories)
      if (index < all.categories.size())
        names.push_back(all.categories[index].name);
    if (!names.empty())
      write_detail(fmt::format("in {}", fmt::join(names, ", ")));
    if (!variable.enumeration || *variable.enumeration >= all.enumerations.size())
      return;
    names.clear();
    for (const VariableEnumItem& item : all.enumerations[*variable.enumeration].items)
      names.push_back(fmt::format("{} {}", item.value, item.name));
    write_detail(fmt::format("values: {}", fmt::join(names, ", ")));
  }

  void write_detail(const std::string& text) const {
    constexpr std::size_t indent = 4;
    for (const std::string& line :
         wrap_words(printable_lines(text), context_.options.width - indent))
      context_.line(std::string(indent, ' ') + context_.paint(Style::dim, line));
  }

  const TextContext& context_;
  const VariableKind kind_;
  const VariableRows rows_;
  const bool with_setters_;
  const bool with_ranks_;
  Table table_;
};

std::string counts_text(const ProcessVariables& variables) {
  const auto count = [&](VariableKind kind) {
    return static_cast<std::uint64_t>(
        std::ranges::count(variables.variables, kind, &Variable::kind));
  };
  auto text = fmt::format("{} control and {} performance variables",
                          thousands(count(VariableKind::control)),
                          thousands(count(VariableKind::performance)));
  if (variables.total)
    text += fmt::format(" of {}", thousands(*variables.total));
  return text + (variables.whole ? "" : ", and more that were not read");
}

/// "from the recorder (listed 12 s before the stop) and from its memory"
std::string sources_text(const ProcessVariables& variables) {
  std::string text;
  for (const VariableSource source : variables.sources) {
    text += text.empty() ? "; from " : " and ";
    text += source == VariableSource::recorder ? "the recorder" : "the memory of the MPI";
  }
  return text;
}

/// Values that a recorder keeps are not those of the stop.
void write_control_ages(const TextContext& context, const Ranks& ranks) {
  Ages ages;
  for (const RankDump* rank : ranks)
    for (const Variable& variable : rank->variables ? rank->variables->variables : no_variables)
      if (variable.kind == VariableKind::control)
        for (const VariableReading& reading : variable.readings)
          ages.add(reading);
  if (ages.earlier)
    context.line(context.paint(
        Style::warning, fmt::format("control variables may have changed since they were read, {}{}",
                                    ages.known ? "up to " : "", ages.text())));
}

/// Writes what was read, and from where, for each group of like ranks.
void write_origins(const TextContext& context, const Ranks& ranks) {
  std::vector<std::pair<std::string, Ranks>> groups;
  for (const RankDump* rank : ranks) {
    if (!rank->variables)
      continue;
    auto mpi = rank->mpi ? printable(rank->mpi->name) : std::string("MPI");
    if (rank->mpi && rank->mpi->version)
      mpi += " " + printable(*rank->mpi->version);
    auto text =
        fmt::format("{}: {}{}", mpi, counts_text(*rank->variables), sources_text(*rank->variables));
    const auto known = std::ranges::find(groups, text, &std::pair<std::string, Ranks>::first);
    if (known == groups.end())
      groups.emplace_back(std::move(text), Ranks{rank});
    else
      known->second.push_back(rank);
  }
  for (const auto& [text, of] : groups)
    context.line(fmt::format("{} {}: {}", of.size() == 1 ? "rank" : "ranks",
                             ranks_text(of, context.options.width / 2), text));
  write_control_ages(context, ranks);
}

void write_filter(const TextContext& context) {
  const VariableFilter& filter = context.dump.filters.variables;
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::vector<std::string>& values) {
    if (!values.empty())
      parts.push_back(printable(fmt::format("{} {}", what, fmt::join(values, ", "))));
  };
  if (filter.kind)
    parts.push_back(fmt::format("kind {}", name_of(*filter.kind)));
  if (filter.verbosity)
    parts.push_back(fmt::format("up to {}", name_of(*filter.verbosity)));
  add("category", filter.categories);
  add("pattern", filter.patterns);
  add("set by", filter.sources);
  if (!parts.empty())
    for (const std::string& line :
         wrap_words(fmt::format("shown only: {}", fmt::join(parts, "; ")), context.options.width))
      context.line(line);
}

void write_lists(const TextContext& context) {
  for (const Ranks& job : by_job(context.dump)) {
    if (std::ranges::none_of(job, [](const RankDump* rank) { return bool(rank->variables); }))
      continue;
    context.line();
    if (has_several_jobs(context.dump))
      context.line(context.paint(Style::heading, job_heading(*job.front())));
    write_origins(context, job);
    for (const auto kind : {VariableKind::control, VariableKind::performance})
      VariableTable(context, job, kind).write();
  }
}

} // namespace

void write_variables(const Dump& dump, const TextOptions& options, const Sink& sink) {
  const TextContext context{dump, options, sink, Paint(options.color)};
  write_header(context, "vars");
  if (!dump.unexpected_lengths)
    write_filter(context);
  if (dump.variable_differences)
    write_differences(context);
  else if (dump.unexpected_lengths)
    write_unexpected_lengths(context);
  else
    write_lists(context);
  write_troubles(context);
  write_end(context);
}

} // namespace mqbridge
