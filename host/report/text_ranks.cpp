#include "host/report/text_ranks.h"

#include "host/document/names.h"
#include "host/dump/values/ranges.h"
#include "host/launch/node_names.h"
#include "host/launch/shell_words.h"
#include "host/report/fitted_text.h"
#include "host/report/paint.h"
#include "host/report/table.h"
#include "host/report/trouble_groups.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace mqbridge {
namespace {

/// So many ranks of a job have a line each, and so many nodes: more are folded.
constexpr std::size_t most_rank_lines = 8;
constexpr std::size_t most_node_lines = 16;
constexpr std::size_t widest_text = 44;

/// A fact that may be the same for all ranks of a job: then it is said once.
struct Fact {
  std::string_view title; ///< of the column
  std::string_view label; ///< before it, where it is said once
  std::string (*of)(const FoundRank& rank);
};

constexpr std::array<Fact, 4> facts = {
    Fact{"MPI", "", [](const FoundRank& rank) { return rank.mpi; }},
    Fact{"USER", "user ", [](const FoundRank& rank) { return rank.user; }},
    Fact{"FROM", "ranks from ",
         [](const FoundRank& rank) {
           return rank.target.rank ? std::string(name_of(rank.target.rank_source)) : "";
         }},
    Fact{"PROGRAM", "", [](const FoundRank& rank) { return rank.executable; }},
};

std::string shown(std::string_view text) {
  return text.empty() ? "-" : shortened(printable(text), widest_text);
}

/// The fact that all ranks share; nullopt: the ranks differ in it.
std::optional<std::string> common(const FoundJob& job, const Fact& fact) {
  const auto first = fact.of(job.ranks.front());
  const bool same = std::all_of(job.ranks.begin(), job.ranks.end(),
                                [&](const FoundRank& rank) { return fact.of(rank) == first; });
  return same ? std::optional(first) : std::nullopt;
}

/// The numbers of the ranks, as far as they are known, in order.
std::vector<std::int64_t> ranks_of(std::span<const FoundRank* const> ranks) {
  std::vector<std::int64_t> known;
  for (const FoundRank* rank : ranks)
    if (rank->target.rank)
      known.push_back(*rank->target.rank);
  std::sort(known.begin(), known.end());
  return known;
}

std::string ranks_text(std::span<const FoundRank* const> ranks, std::size_t most_runs) {
  const auto known = ranks_of(ranks);
  return known.empty() ? "-" : range_text(known, most_runs);
}

std::string counted_as(std::size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

using ByNode = std::map<std::string, std::vector<const FoundRank*>>;

ByNode by_node(std::span<const FoundJob> jobs) {
  ByNode nodes;
  for (const FoundJob& job : jobs)
    for (const FoundRank& rank : job.ranks)
      nodes[rank.node].push_back(&rank);
  return nodes;
}

class RanksText {
public:
  RanksText(const FoundJobs& findings, const RanksTextOptions& options, const Sink& sink)
      : findings_(findings), options_(options), sink_(sink), paint_(options.color) {}

  void write() {
    write_heading();
    for (const FoundJob& job : findings_.jobs) {
      line("");
      write_job(job);
    }
    write_troubles("Not looked at: ranks may be missing", Style::bad, findings_.faults);
    write_troubles("Doubtful", Style::warning, findings_.warnings);
  }

private:
  void line(std::string_view text) const { sink_(std::string(text) + "\n"); }

  void wrapped(std::string_view indent, Style style, const std::string& text) const {
    for (const std::string& part : wrap_words(text, options_.width - indent.size()))
      line(std::string(indent) + paint_(style, part));
  }

  void write_heading() const {
    std::size_t ranks = 0;
    for (const FoundJob& job : findings_.jobs)
      ranks += job.ranks.size();
    const std::string start = paint_(Style::heading, "mqbridge ranks") + "   ";
    if (ranks == 0)
      return line(start + "no rank of an MPI job was found");
    line(start + fmt::format("{}: {} on {}", counted_as(findings_.jobs.size(), "job", "jobs"),
                             counted_as(ranks, "rank", "ranks"),
                             counted_as(by_node(findings_.jobs).size(), "node", "nodes")));
  }

  void write_job(const FoundJob& job) const {
    const auto nodes = by_node(std::span(&job, 1));
    const std::size_t count = job.ranks.size();
    const bool lacks = job.size && *job.size > static_cast<std::int64_t>(count);
    line(paint_(Style::heading, "Job " + shown(job.name)) +
         fmt::format(
             "   {}{} on {}", lacks ? fmt::format("{} of ", count) : "",
             counted_as(lacks ? static_cast<std::size_t>(*job.size) : count, "rank", "ranks"),
             counted_as(nodes.size(), "node", "nodes")));
    if (job.ranks.empty())
      return;
    write_common_facts(job);
    wrapped("  ", Style::fix, "dump it: " + dump_line(job));
    if (count <= most_rank_lines || options_.full)
      write_ranks(job);
    else
      write_nodes(nodes);
    write_doubts(job);
  }

  void write_common_facts(const FoundJob& job) const {
    std::string text;
    for (const Fact& fact : facts)
      if (const auto same = common(job, fact); same && !same->empty())
        text += fmt::format("{}{}{}", text.empty() ? "" : "   ", fact.label, shown(*same));
    if (!text.empty())
      wrapped("  ", Style::plain, text);
  }

  /// A line for a shell.
  std::string dump_line(const FoundJob& job) const {
    std::vector<std::string> words = {"mqbridge", "dump"};
    if (!job.arguments.empty()) {
      words.insert(words.end(), job.arguments.begin(), job.arguments.end());
      return printable(join_words(words));
    }
    if (!options_.saved.empty() || job.ranks.size() > most_rank_lines) {
      const std::string file = options_.saved.empty() ? "FILE" : options_.saved;
      words.insert(words.end(), {"--targets", file});
      if (!options_.saved.empty())
        return printable(join_words(words));
      std::vector<std::string> save = {"mqbridge", "ranks"};
      save.insert(save.end(), options_.search.begin(), options_.search.end());
      save.insert(save.end(), {"--save", file});
      return printable(join_words(save) + " && " + join_words(words));
    }
    for (const FoundRank& rank : job.ranks) {
      const bool says_itself = rank.target.rank_source == RankSource::environ || !rank.target.rank;
      words.push_back(says_itself ? rank.target.text()
                                  : fmt::format("{}={}", *rank.target.rank, rank.target.text()));
    }
    return printable(join_words(words));
  }

  void write_table(const std::vector<Column>& columns,
                   const std::vector<std::vector<Cell>>& rows) const {
    Table table(columns, options_.width);
    for (const auto& row : rows)
      table.fit(row);
    static_cast<void>(table.narrow()); // what is left out stands in the other formats
    line(table.titles(paint_));
    for (const auto& row : rows)
      line(table.line(row, paint_));
  }

  void write_ranks(const FoundJob& job) const {
    std::vector<Column> columns = {{"  RANK", Align::right}, {"NODE"}, {"PID", Align::right}};
    std::vector<const Fact*> differing;
    for (const Fact& fact : facts)
      if (!common(job, fact)) {
        differing.push_back(&fact);
        columns.push_back({std::string(fact.title), Align::left, 2, 1});
      }
    columns.push_back({"TARGET", Align::left, 2, 2});
    std::vector<std::vector<Cell>> rows;
    for (const FoundRank& rank : job.ranks) {
      auto& row = rows.emplace_back();
      row.push_back({rank.target.rank ? std::to_string(*rank.target.rank) : "-"});
      row.push_back({rank.node.empty() ? "this host" : shown(rank.node)});
      row.push_back({rank.pid ? std::to_string(*rank.pid) : "-"});
      for (const Fact* fact : differing)
        row.push_back({shown(fact->of(rank))});
      row.push_back({shown(rank.target.text())});
    }
    write_table(columns, rows);
  }

  /// A line for each node; where they are many, for those with equally many ranks.
  void write_nodes(const ByNode& nodes) const {
    struct Line {
      std::vector<std::string> nodes;
      std::vector<const FoundRank*> ranks;
    };
    const bool fold = nodes.size() > most_node_lines;
    std::map<std::pair<std::size_t, std::string>, Line> lines;
    for (const auto& [node, ranks] : nodes) {
      Line& into = lines[{fold ? ranks.size() : 0, fold ? "" : node}];
      into.nodes.push_back(node);
      into.ranks.insert(into.ranks.end(), ranks.begin(), ranks.end());
    }
    constexpr std::size_t most_runs = 4;
    std::vector<std::vector<Cell>> rows;
    rows.reserve(lines.size());
    for (const auto& [key, each] : lines)
      rows.push_back({{"  " + node_list_text(each.nodes, most_runs)},
                      {std::to_string(each.nodes.size())},
                      {std::to_string(each.ranks.size() / each.nodes.size())},
                      {ranks_text(each.ranks, most_runs)}});
    if (fold)
      return write_table(
          {{"  NODES"}, {"N", Align::right}, {"RANKS EACH", Align::right}, {"RANKS"}}, rows);
    for (auto& row : rows)
      row.erase(row.begin() + 1);
    write_table({{"  NODE"}, {"N", Align::right}, {"RANKS"}}, rows);
  }

  /// Ranks that were not found, that several processes claim, and processes without a rank.
  void write_doubts(const FoundJob& job) const {
    std::set<std::int64_t> found;
    std::set<std::int64_t> again;
    std::size_t unknown = 0;
    for (const FoundRank& rank : job.ranks) {
      if (!rank.target.rank)
        ++unknown;
      else if (!found.insert(*rank.target.rank).second)
        again.insert(*rank.target.rank);
    }
    constexpr std::int64_t most_listed = std::int64_t{1} << 20; // a size may be a lie
    const std::int64_t size = job.size.value_or(0) <= most_listed ? job.size.value_or(0) : 0;
    std::vector<std::int64_t> missing;
    for (std::int64_t rank = 0; rank < size; ++rank)
      if (!found.contains(rank))
        missing.push_back(rank);
    if (!missing.empty())
      wrapped("  ", Style::bad, "not found: rank " + range_text(missing));
    if (!again.empty())
      wrapped("  ", Style::warning,
              "claimed by several processes: rank " +
                  range_text(std::vector<std::int64_t>(again.begin(), again.end())));
    if (unknown > 0)
      wrapped("  ", Style::warning,
              fmt::format("{} not known",
                          counted_as(unknown, "process's rank is", "processes' ranks are")));
  }

  void write_troubles(std::string_view title, Style style,
                      const std::vector<FindTrouble>& troubles) const {
    if (troubles.empty())
      return;
    line("");
    line(paint_(Style::heading, title));
    for (const TroubleGroup& group : group_troubles(troubles)) {
      const auto& error = group.example->error;
      std::string who = node_list_text(group.nodes);
      if (group.nodes.size() > 1)
        who += fmt::format(" ({} nodes)", group.nodes.size());
      if (group.processes > 0)
        who += "   " + counted_as(group.processes, "process", "processes");
      wrapped("  ", Style::plain, who + "   " + paint_(style, printable(error.code)));
      wrapped("    ", Style::plain, printable_lines(error.message));
      for (const std::string& part : wrap_clauses(printable_lines(error.hint), options_.width - 9))
        line("    " + paint_(Style::fix, "fix: " + part));
    }
  }

  const FoundJobs& findings_;
  const RanksTextOptions& options_;
  const Sink& sink_;
  const Paint paint_;
};

} // namespace

void write_text(const FoundJobs& findings, const RanksTextOptions& options, const Sink& sink) {
  RanksText(findings, options, sink).write();
}

} // namespace mqbridge
