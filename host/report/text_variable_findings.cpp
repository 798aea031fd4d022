#include "host/report/fitted_text.h"
#include "host/report/rank_lists.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"
#include "host/report/variable_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <utility>

namespace mqbridge {
namespace {

Ranks ranks_of(const Dump& dump, const std::vector<std::size_t>& indexes) {
  Ranks ranks;
  for (const auto index : indexes)
    ranks.push_back(&dump.ranks[index]);
  return ranks;
}

/// "rank 7", "ranks 0-3,7"
std::string named(const TextContext& context, const std::vector<std::size_t>& indexes) {
  return fmt::format("{} {}", indexes.size() == 1 ? "rank" : "ranks",
                     ranks_text(ranks_of(context.dump, indexes), context.options.width / 2));
}

std::string shown(const VariableOpinion& opinion) {
  return opinion.exists ? shown_value(opinion.value, opinion.name) : "(no such variable)";
}

std::string name_text(const VariableDifference& difference) {
  return printable(difference.name) +
         (difference.object.empty() ? "" : " of " + printable(difference.object));
}

void write_words(const TextContext& context, const std::string& text) {
  for (const std::string& line : wrap_words(printable(text), context.options.width))
    context.line(line);
}

/// Where a rank is not of the opinion of most: the difference, and which opinion it has instead.
using Deviations = std::vector<std::pair<const VariableDifference*, const VariableOpinion*>>;

class JobDifferences {
public:
  JobDifferences(const TextContext& context, const JobVariableDifferences& job)
      : context_(context), job_(job) {}

  void write() const {
    if (job_.ranks.size() < 2)
      write_words(context_, job_.ranks.empty() ? "no rank whose variables are known"
                                               : "one rank alone: there is nothing to compare");
    else if (job_.differences.empty())
      context_.line(fmt::format("all {} ranks agree in {} variables", job_.ranks.size(),
                                thousands(job_.compared)));
    write_deviations();
    write_disagreements();
    write_equal_scopes();
    write_left_out();
  }

private:
  /// Ranks that differ from the others in the same way are listed together.
  void write_deviations() const {
    std::map<std::size_t, Deviations> by_rank;
    for (const VariableDifference& difference : job_.differences)
      for (std::size_t i = 1; difference.majority && i < difference.opinions.size(); ++i)
        for (const auto rank : difference.opinions[i].ranks)
          by_rank[rank].emplace_back(&difference, &difference.opinions[i]);
    std::vector<std::pair<const Deviations*, std::vector<std::size_t>>> groups;
    for (const auto& [rank, deviations] : by_rank) {
      const auto known = std::ranges::find_if(
          groups, [&](const auto& group) { return *group.first == deviations; });
      if (known == groups.end())
        groups.push_back({&deviations, {rank}});
      else
        known->second.push_back(rank);
    }
    for (const auto& [deviations, ranks] : groups) {
      context_.line(context_.paint(
          Style::warning, fmt::format("{} {} in {} of {} variables", named(context_, ranks),
                                      ranks.size() == 1 ? "differs" : "differ",
                                      thousands(deviations->size()), thousands(job_.compared))));
      write_table(*deviations);
    }
  }

  void write_table(const Deviations& deviations) const {
    std::vector<std::vector<Cell>> rows;
    for (const auto& [difference, opinion] : deviations) {
      const VariableOpinion& most = difference->opinions.front();
      rows.push_back({{"  " + name_text(*difference)},
                      {shown(*opinion)},
                      {printable(opinion->set_by)},
                      {shown(most)},
                      {printable(most.set_by)}});
    }
    write_rows({{"  VARIABLE"}, {"HERE"}, {"SET BY"}, {"MOST RANKS"}, {"SET BY"}}, rows);
  }

  /// Writes the variables of which no value is held by most ranks.
  void write_disagreements() const {
    std::vector<std::vector<Cell>> rows;
    std::size_t count = 0;
    for (const VariableDifference& difference : job_.differences) {
      if (difference.majority)
        continue;
      ++count;
      for (const VariableOpinion& opinion : difference.opinions)
        rows.push_back(
            {{&opinion == &difference.opinions.front() ? "  " + name_text(difference) : ""},
             {ranks_text(ranks_of(context_.dump, opinion.ranks), widest_ranks)},
             {printable(opinion.set_by)},
             {shown(opinion)}});
    }
    if (rows.empty())
      return;
    context_.line(context_.paint(
        Style::warning,
        fmt::format("{} of {} variables {} values of which none is that of most ranks",
                    thousands(count), thousands(job_.compared), count == 1 ? "has" : "have")));
    write_rows({{"  VARIABLE"}, {"RANKS"}, {"SET BY"}, {"VALUE"}}, rows);
  }

  /// Columns that hold nothing are left out.
  void write_rows(std::vector<Column> columns, std::vector<std::vector<Cell>>& rows) const {
    for (std::size_t i = columns.size(); i-- > 0;) {
      const bool empty =
          std::ranges::all_of(rows, [&](const auto& row) { return row[i].text.empty(); });
      if (!empty)
        continue;
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& row : rows)
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    }
    Table table(std::move(columns), context_.options.width);
    for (const auto& row : rows)
      table.fit(row);
    table.narrow();
    context_.line(table.titles(context_.paint));
    for (const auto& row : rows)
      context_.line(table.line(row, context_.paint));
  }

  /// Names the variables that differ although the MPI wants one value on all ranks.
  void write_equal_scopes() const {
    std::vector<std::string> names;
    for (const VariableDifference& difference : job_.differences)
      if (difference.scope == VariableScope::all_eq || difference.scope == VariableScope::group_eq)
        names.push_back(difference.name);
    if (!names.empty())
      write_words(context_, fmt::format("the MPI wants the same value on all ranks (scope all_eq "
                                        "or group_eq) of {}",
                                        fmt::join(names, ", ")));
  }

  void write_left_out() const {
    if (job_.ranks.size() < 2)
      return;
    if (job_.unread > 0)
      write_words(context_,
                  fmt::format("not compared: {} variable{}, of which not every rank says the value",
                              thousands(job_.unread), job_.unread == 1 ? "" : "s"));
    if (!job_.without.empty())
      write_words(context_, "not compared: " + named(context_, job_.without) +
                                ", of which no variables are known");
    if (job_.performance > 0)
      write_words(context_, fmt::format("left out: {} performance variables (--all)",
                                        thousands(job_.performance)));
    if (!job_.own.empty())
      write_words(context_, fmt::format("left out, each process has its own value: {} (--all)",
                                        fmt::join(job_.own, ", ")));
    if (!job_.addresses.empty())
      write_words(context_, fmt::format("left out, the values are addresses: {} (--all)",
                                        fmt::join(job_.addresses, ", ")));
  }

  const TextContext& context_;
  const JobVariableDifferences& job_;
};

std::string peers_text(const std::vector<std::size_t>& peers) {
  constexpr std::size_t most = 4;
  const auto shown = std::span(peers).first(std::min(most, peers.size()));
  auto text = fmt::format("{}", fmt::join(shown, ","));
  return peers.size() > most ? text + fmt::format(" and {} more", peers.size() - most) : text;
}

} // namespace

void write_differences(const TextContext& context) {
  for (const JobVariableDifferences& job : *context.dump.variable_differences) {
    context.line();
    if (context.dump.variable_differences->size() > 1 &&
        !(job.ranks.empty() && job.without.empty()))
      context.line(context.paint(
          Style::heading,
          job_heading(
              context.dump.ranks[job.ranks.empty() ? job.without.front() : job.ranks.front()])));
    JobDifferences(context, job).write();
  }
}

void write_unexpected_lengths(const TextContext& context) {
  const UnexpectedLengths& lengths = *context.dump.unexpected_lengths;
  std::vector<std::size_t> long_ones;
  for (const UnexpectedLength& queue : lengths.queues)
    long_ones.push_back(queue.rank);
  std::ranges::sort(long_ones);
  long_ones.erase(std::unique(long_ones.begin(), long_ones.end()), long_ones.end());
  context.line();
  const auto counted_ranks = lengths.counted.size();
  if (counted_ranks + long_ones.size() == 0)
    context.line("no rank tells how many unexpected messages it has");
  else
    context.line(context.paint(
        long_ones.empty() ? Style::plain : Style::warning,
        fmt::format("{} of {} {} more than {} unexpected messages", long_ones.size(),
                    counted(counted_ranks + lengths.unknown.size(), "rank"),
                    long_ones.size() == 1 ? "has" : "have", thousands(lengths.longer_than))));
  Table table({{"  RANK", Align::right},
               {"MESSAGES", Align::right},
               {"COMMUNICATOR"},
               {"FROM ITS RANKS"},
               {"AS OF"},
               {.title = "VARIABLE", .drop = 1}},
              context.options.width);
  std::vector<std::vector<Cell>> rows;
  for (const UnexpectedLength& queue : lengths.queues) {
    rows.push_back({{rank_number(context.dump.ranks[queue.rank])},
                    {thousands(queue.length)},
                    {queue.object.empty() ? "all" : printable(queue.object)},
                    {peers_text(queue.peers)},
                    {shown_time(queue.earlier, queue.age_s)},
                    {printable(queue.variable)}});
    table.fit(rows.back());
  }
  table.narrow();
  if (!rows.empty())
    context.line(table.titles(context.paint));
  for (const auto& row : rows)
    context.line(table.line(row, context.paint));
  if (!lengths.unknown.empty())
    write_words(context, "not known, which is not 0: " + named(context, lengths.unknown) +
                             ", of which no such variable was read: the recorder samples them "
                             "(docs/recorder.md)");
}

} // namespace mqbridge
