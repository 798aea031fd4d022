#include "host/disk/file_name.h"
#include "host/document/names.h"
#include "host/dump/values/ranges.h"
#include "host/report/causes.h"
#include "host/report/fitted_text.h"
#include "host/report/inside_lines.h"
#include "host/report/queue_words.h"
#include "host/report/rank_words.h"
#include "host/report/table.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace mqbridge {
namespace {

// Widest cells: whatever a target calls itself, there is room for the columns behind.
constexpr std::size_t widest_host = 16;
constexpr std::size_t widest_mpi = 21; // "mqbridge recorder 1.0"
constexpr std::size_t widest_ranks_cell = 16;

enum class Rows : std::uint8_t { ranks, groups, groups_on_hosts };

std::vector<Column> columns(Rows rows) {
  std::vector<Column> out = {{"RANKS"}, {"N", Align::right}};
  if (rows == Rows::ranks)
    out = {{"RANK", Align::right}, {"HOST", Align::left, 1, 1}, {"PID", Align::right, 2, 3}};
  else if (rows == Rows::groups_on_hosts)
    out.push_back({"HOSTS", Align::left, 2, 1});
  out.insert(out.end(), {{"PLATFORM", Align::left, 2, 5},
                         {"MPI (transport)", Align::left, 2, 4},
                         {"HELD", Align::right, 1, 2},
                         {"SEND", Align::right},
                         {"RECV", Align::right},
                         {"UNEXP", Align::right},
                         {"STATUS"}});
  return out;
}

/// The cells from PLATFORM on, which both tables share. They are the first rank's, except the
/// operation counts, which are the group's.
void add_common_cells(const RankGroup& group, std::vector<Cell>& row) {
  const RankDump& rank = group.example();
  row.push_back({platform_text(rank)});
  row.push_back({shortened(mpi_text(rank), widest_mpi)});
  row.push_back({held_text(rank)});
  for (const OpClass op_class : op_classes)
    row.push_back({counts_of(group, op_class)});
  row.push_back(status_cell(group));
}

/// A line of the table, and a rank that it stands for.
struct TableRow {
  const RankDump* rank;
  std::vector<Cell> cells;
};

/// The text that all rows have in a column, apart from rows in which it is not known.
std::string common_cell(const std::vector<TableRow>& rows, std::size_t column) {
  std::string common;
  for (const TableRow& row : rows) {
    const std::string& text = row.cells[column].text;
    if (text == "-" || text == common)
      continue;
    if (!common.empty())
      return {};
    common = text;
  }
  return common;
}

void write_left_out(const TextContext& context, const std::vector<Column>& columns,
                    const std::vector<TableRow>& rows, const std::vector<std::size_t>& left_out) {
  std::vector<Cell> pieces = {{"no room for", Style::dim}};
  for (const std::size_t column : left_out) {
    const std::string common = common_cell(rows, column);
    pieces.back().text += pieces.size() == 1 ? "" : ",";
    pieces.push_back(
        {" " + columns[column].title + (common.empty() ? "" : " = " + common), Style::dim});
  }
  write_flow(context, pieces);
}

void write_rows(const TextContext& context, Rows kind, const std::vector<TableRow>& rows) {
  const std::vector<Column> all = columns(kind);
  Table table(all, context.options.width);
  for (const TableRow& row : rows)
    table.fit(row.cells);
  if (const auto left_out = table.narrow(); !left_out.empty())
    write_left_out(context, all, rows, left_out);
  context.line(table.titles(context.paint));
  const bool jobs = has_several_jobs(context.dump);
  const RankDump* last = nullptr;
  for (const TableRow& row : rows) {
    if (jobs && (last == nullptr || last->job_id != row.rank->job_id))
      context.line(context.paint(Style::heading, job_heading(*row.rank)));
    last = row.rank;
    context.line(table.line(row.cells, context.paint));
  }
}

} // namespace

bool has_several_jobs(const Dump& dump) {
  std::set<std::string> jobs;
  for (const RankDump& rank : dump.ranks)
    if (rank.job_id)
      jobs.insert(*rank.job_id);
  return jobs.size() > 1;
}

bool has_several_hosts(const Dump& dump) {
  return std::any_of(dump.ranks.begin(), dump.ranks.end(), [&](const RankDump& rank) {
    return rank.host && dump.ranks.front().host && *rank.host != *dump.ranks.front().host;
  });
}

std::string job_number(const RankDump& rank) {
  return rank.job_id ? printable(job_number(*rank.job_id)) : "?";
}

std::string job_heading(const RankDump& rank) {
  if (!rank.job_id)
    return "Job not known";
  const std::string name = rank.job_id->substr(rank.job_id->find(':') + 1); // none: all of it
  return fmt::format("Job {} ({})", job_number(rank), printable(name));
}

std::string rank_number(const RankDump& rank) {
  return rank.rank ? fmt::format("{}", *rank.rank) : "-";
}

std::string place_text(const RankDump& rank) {
  if (rank.host)
    return printable(*rank.host);
  std::string_view place = rank.endpoint;
  for (const std::string_view scheme : {"serial:/dev/", "serial:"}) {
    if (!place.starts_with(scheme))
      continue;
    place.remove_prefix(scheme.size());
    const auto rate = place.rfind(':');
    const bool has_rate = rate != std::string_view::npos && rate + 1 < place.size() &&
                          place.find_first_not_of("0123456789", rate + 1) == std::string_view::npos;
    return printable(has_rate ? place.substr(0, rate) : place);
  }
  constexpr std::string_view command = "exec:";
  if (place.starts_with(command)) {
    const auto first = place.substr(command.size(), place.find(' ') - command.size());
    return printable(std::string(command).append(file_name(first)));
  }
  return printable(place);
}

void write_rank_table(const TextContext& context) {
  std::vector<TableRow> rows;
  for (const RankDump& rank : context.dump.ranks) {
    std::vector<Cell> row = {{rank_number(rank)}};
    row.push_back({shortened(place_text(rank), widest_host)});
    row.push_back({rank.pid ? fmt::format("{}", *rank.pid) : "-"});
    add_common_cells({{&rank}}, row);
    rows.push_back({&rank, std::move(row)});
  }
  write_rows(context, Rows::ranks, rows);
}

void write_folded_table(const TextContext& context, const std::vector<RankGroup>& groups) {
  const Rows kind = has_several_hosts(context.dump) ? Rows::groups_on_hosts : Rows::groups;
  std::vector<TableRow> rows;
  for (const RankGroup& group : groups) {
    RankDump held_longest; // only for its time
    for (const RankDump* rank : group.ranks) {
      if (rank->stopped_ms.value_or(-1) > held_longest.stopped_ms.value_or(-1))
        held_longest.stopped_ms = rank->stopped_ms;
      held_longest.stopped_before_us |= rank->stopped_before_us;
    }
    // The start of a rank list tells which row this is; the details below have all of it.
    std::string ranks = rank_text(group, context.options.width);
    if (display_width(ranks) > widest_ranks_cell)
      ranks = ranks.substr(0, ranks.rfind(',', widest_ranks_cell - 4)) + ",...";
    std::vector<Cell> row = {{ranks}, {fmt::format("{}", group.ranks.size())}};
    if (kind == Rows::groups_on_hosts)
      row.push_back({hosts_text(group, widest_host)});
    add_common_cells(group, row);
    row[row.size() - 5].text = held_text(held_longest);
    rows.push_back({&group.example(), std::move(row)});
  }
  write_rows(context, kind, rows);
}

} // namespace mqbridge
