#include "host/report/names.h"
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
                                    PhaseName::types,   PhaseName::walk,   PhaseName::detach};

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

void add_rank(const RankDump& rank, std::vector<Row>& rows) {
  std::string label = fmt::format("{}", rank.rank);
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

} // namespace

void write_statistics(const TextContext& context) {
  std::vector<Row> rows;
  if (!is_folded(context))
    for (const RankDump& rank : context.dump.ranks)
      add_rank(rank, rows);
  if (context.dump.ranks.size() != 1)
    add_all(context.dump, rows);
  Table table({{"RANK", Align::right},
               {"PHASE"},
               {"MS", Align::right},
               {"ROUND TRIPS", Align::right},
               {"RECEIVED", Align::right},
               {"SENT", Align::right},
               {"REQUESTS", Align::right},
               {"FETCHES", Align::right},
               {"FETCHED", Align::right}},
              context.options.width);
  for (const Row& row : rows)
    table.fit(row);
  context.line();
  context.line(context.paint(Style::heading, "Statistics") +
               "  (bytes; fetches are what the debug DLL asked for; all: longest time, sums)");
  context.line(table.titles(context.paint));
  for (const Row& row : rows)
    context.line(table.line(row, context.paint));
}

} // namespace mqbridge
