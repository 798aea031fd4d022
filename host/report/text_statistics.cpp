#include "host/document/names.h"
#include "host/report/table.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using Row = std::vector<Cell>;

constexpr std::array phase_names = {PhaseName::connect, PhaseName::attach, PhaseName::images,
                                    PhaseName::types,   PhaseName::walk,   PhaseName::stacks,
                                    PhaseName::detach};

Row row_of(const std::string& rank, std::string_view phase, double ms, std::uint64_t round_trips,
           std::uint64_t bytes) {
  return {{rank},
          {std::string(phase)},
          {fmt::format("{:.2f}", ms)},
          {fmt::format("{}", round_trips)},
          {fmt::format("{}", bytes)}};
}

Row total_row(const std::string& rank, const Statistics& statistics) {
  Row row = row_of(rank, "total", statistics.elapsed_ms, statistics.round_trips,
                   statistics.bytes_received);
  row.push_back({fmt::format("{}", statistics.bytes_sent)});
  row.push_back({fmt::format("{}", statistics.requests)});
  row.push_back({fmt::format("{}", statistics.fetches)});
  row.push_back({fmt::format("{}", statistics.fetch_bytes)});
  return row;
}

/// "3"; "2:3" is rank 3 of job 2.
std::string label_of(const TextContext& context, const RankDump& rank) {
  return (has_several_jobs(context.dump) ? job_number(rank) + ":" : "") + rank_number(rank);
}

void add_rank(std::string label, const RankDump& rank, std::vector<Row>& rows) {
  for (const Phase& phase : rank.statistics.phases)
    rows.push_back(row_of(std::exchange(label, {}), name_of(phase.name), phase.elapsed_ms,
                          phase.round_trips, phase.bytes));
  rows.push_back(total_row(label, rank.statistics));
}

/// Ranks run at the same time: the longest time, the sum of everything else.
void add_all(const Dump& dump, std::vector<Row>& rows) {
  Statistics all;
  std::string label = "all";
  for (const PhaseName name : phase_names) {
    Phase sum{name};
    for (const RankDump& rank : dump.ranks)
      for (const Phase& phase : rank.statistics.phases)
        if (phase.name == name) {
          sum.elapsed_ms = std::max(sum.elapsed_ms, phase.elapsed_ms);
          sum.round_trips += phase.round_trips;
          sum.bytes += phase.bytes;
        }
    rows.push_back(row_of(std::exchange(label, {}), name_of(name), sum.elapsed_ms, sum.round_trips,
                          sum.bytes));
  }
  for (const RankDump& rank : dump.ranks) {
    const Statistics& one = rank.statistics;
    all.elapsed_ms = std::max(all.elapsed_ms, one.elapsed_ms);
    all.round_trips += one.round_trips;
    all.requests += one.requests;
    all.bytes_received += one.bytes_received;
    all.bytes_sent += one.bytes_sent;
    all.fetches += one.fetches;
    all.fetch_bytes += one.fetch_bytes;
  }
  rows.push_back(total_row(label, all));
}

void write_table(const TextContext& context, const std::vector<Column>& columns,
                 const std::vector<Row>& rows) {
  Table table(columns, context.options.width);
  for (const Row& row : rows)
    table.fit(row);
  table.narrow();
  context.line(table.titles(context.paint));
  for (const Row& row : rows)
    context.line(table.line(row, context.paint));
}

Row memory_row(const std::string& rank, const Statistics& statistics) {
  const auto pages = [](const std::optional<std::uint64_t>& count) {
    return count ? fmt::format("{}", *count) : "-";
  };
  const auto& touched = statistics.pages_touched;
  const bool known = touched && *touched > 0 && statistics.pages_read;
  const auto over_read = [&] {
    return static_cast<double>(*statistics.pages_read) / static_cast<double>(*touched);
  };
  return {{rank},
          {pages(touched)},
          {pages(statistics.pages_read)},
          {known ? fmt::format("{:.2f}", over_read()) : "-"},
          {statistics.rtt_us ? duration_text(*statistics.rtt_us / 1000) : "-"},
          {statistics.bandwidth_bps ? rate_text(*statistics.bandwidth_bps / 8) : "-"}};
}

/// Pages are summed up; round trip and bandwidth are those of the slowest link. Ranks without pages
/// have not come to read any.
Row memory_row_of_all(const Dump& dump) {
  Statistics all;
  for (const RankDump& rank : dump.ranks) {
    const Statistics& one = rank.statistics;
    if (one.pages_touched)
      all.pages_touched = all.pages_touched.value_or(0) + *one.pages_touched;
    if (one.pages_read)
      all.pages_read = all.pages_read.value_or(0) + *one.pages_read;
    if (one.rtt_us)
      all.rtt_us = std::max(all.rtt_us.value_or(0), *one.rtt_us);
    if (one.bandwidth_bps)
      all.bandwidth_bps =
          std::min(all.bandwidth_bps.value_or(*one.bandwidth_bps), *one.bandwidth_bps);
  }
  return memory_row("all", all);
}

void write_phases(const TextContext& context) {
  std::vector<Row> rows;
  if (!is_folded(context))
    for (const RankDump& rank : context.dump.ranks)
      add_rank(label_of(context, rank), rank, rows);
  if (context.dump.ranks.size() != 1)
    add_all(context.dump, rows);
  write_flow(context, {{"Statistics", Style::heading},
                       {"  (bytes;"},
                       {" fetches are what the debug DLL asked for;"},
                       {" all: longest time, sums)"}});
  write_table(context,
              {{"RANK", Align::right},
               {"PHASE"},
               {"MS", Align::right},
               {"ROUND TRIPS", Align::right},
               {"RECEIVED", Align::right},
               {"SENT", Align::right, 2, 4},
               {"REQUESTS", Align::right, 2, 2},
               {"FETCHES", Align::right, 2, 1},
               {"FETCHED", Align::right, 2, 3}},
              rows);
}

void write_memory(const TextContext& context) {
  std::vector<Row> rows;
  if (!is_folded(context))
    for (const RankDump& rank : context.dump.ranks)
      rows.push_back(memory_row(label_of(context, rank), rank.statistics));
  if (context.dump.ranks.size() != 1)
    rows.push_back(memory_row_of_all(context.dump));
  context.line(context.paint(Style::heading, "Memory and link") +
               "  (pages of 4 KiB; all: sums, slowest link)");
  write_table(context,
              {{"RANK", Align::right},
               {"LOOKED AT", Align::right},
               {"READ", Align::right},
               {"OVER-READ", Align::right},
               {"ROUND TRIP", Align::right},
               {"IN BULK", Align::right}},
              rows);
}

} // namespace

void write_statistics(const TextContext& context) {
  context.line();
  write_phases(context);
  context.line();
  write_memory(context);
}

} // namespace mqbridge
