#include "host/report/page_view.h"

#include "host/document/names.h"
#include "host/report/blocked_words.h"
#include "host/report/communicator_words.h"
#include "host/report/fitted_text.h"
#include "host/report/inside_lines.h"
#include "host/report/queue_words.h"
#include "host/report/rank_words.h"
#include "host/report/stack_calls.h"
#include "host/report/text_parts.h"
#include "host/report/verdict_words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using Json = nlohmann::ordered_json;

std::string_view tone_of(Style style) {
  switch (style) {
  case Style::bad:
    return "bad";
  case Style::warning:
    return "warning";
  default:
    return "good";
  }
}

/// The lines of a part of the text report.
Json lines_of(const Dump& dump, void (*write)(const TextContext&)) {
  Json lines = Json::array();
  const TextOptions options;
  const Sink keep = [&](std::string_view line) {
    lines.push_back(line.substr(0, line.find_last_not_of('\n') + 1));
  };
  write(TextContext{dump, options, keep, Paint(false)});
  return lines;
}

Json row_json(const OperationRow& row) {
  Json cells = Json::array();
  for (const Cell& cell : row.cells)
    cells.push_back(cell.text);
  cells.push_back(row.note.text);
  return cells;
}

class CommunicatorView {
public:
  CommunicatorView(const Dump& dump, const RankDump& rank, const TextOptions& options)
      : dump_(dump), rank_(rank), options_(options), waits_(rank) {}

  Json json(const Communicator& communicator) const {
    Json facts = Json::array();
    for (const std::string& fact : facts_of(communicator))
      facts.push_back(fact);
    Json rows = Json::array();
    Json lines = Json::array();
    const auto inside = inside_lines(communicator);
    for (const InsideLine& line : inside)
      lines.push_back(line.text());
    if (has_own_operations(communicator, options_.full))
      for (const OpClass op_class : op_classes)
        add_queue(communicator, op_class, !inside.empty(), rows, lines);
    else if (std::string idle = idle_queues(rank_, communicator); !idle.empty())
      lines.push_back(std::move(idle));
    for (const InsideLine& line : message_lines(communicator))
      lines.push_back(line.text());
    if (std::string returned = returned_line(dump_, communicator); !returned.empty())
      lines.push_back(std::move(returned));
    return {{"name", printable(communicator.key) + " " + display_name(communicator)},
            {"facts", std::move(facts)},
            {"rows", std::move(rows)},
            {"lines", std::move(lines)}};
  }

private:
  void add_queue(const Communicator& communicator, OpClass op_class, bool say_empty, Json& rows,
                 Json& lines) const {
    bool source_said = false;
    const std::uint64_t left_out =
        operation_rows(communicator, op_class, waits_, options_, [&](OperationRow row) {
          add_source(rank_, row, source_said);
          rows.push_back(row_json(row));
        });
    const auto say = [&](const std::string& what) {
      lines.push_back(fmt::format("{}: {}", short_name(op_class), what));
    };
    if (left_out > 0)
      say(fmt::format("and {} more, in the JSON", left_out));
    for (const std::string& state :
         queue_states(rank_, communicator.queue(op_class), op_class, say_empty))
      say(state);
  }

  const Dump& dump_;
  const RankDump& rank_;
  const TextOptions& options_;
  WaitedWords waits_;
};

Json thread_json(const RankDump& rank, const ThreadStack& stack) {
  Json calls = Json::array();
  for (const TreeCall& call : stack_calls(rank, stack, false))
    calls.push_back({printable(call.function), printable(call.file), call.line});
  auto name = fmt::format("thread {}", stack.thread);
  if (stack.name)
    name += " " + printable(*stack.name);
  return {{"name", std::move(name)}, {"helper", stack.helper}, {"calls", std::move(calls)}};
}

} // namespace

PageView::PageView(const Dump& dump, const TextOptions& options)
    : dump_(dump), options_(options), several_jobs_(has_several_jobs(dump)) {}

Json PageView::all() const {
  Json labels = Json::object();
  Json view = {
      {"header",
       lines_of(dump_, [](const TextContext& context) { write_header(context, "report"); })},
      {"filters", lines_of(dump_, write_filters)}};
  if (!dump_.analysis)
    return view;
  for (const Finding& finding : dump_.analysis->findings)
    labels[std::string(name_of(finding.kind))] = label_of(finding.kind);
  const VerdictLine line = verdict_line(*dump_.analysis);
  view.update(
      {{"verdict", line.verdict},
       {"more", line.more},
       {"tone", tone_of(line.style)},
       {"labels", std::move(labels)},
       {"changes", dump_.analysis->changes ? lines_of(dump_, write_changes) : Json::array()}});
  return view;
}

Json PageView::rank(const RankDump& rank) const {
  const RankGroup alone{{&rank}};
  std::string name = "Rank " + rank_number(rank);
  if (several_jobs_)
    name += " of job " + job_number(rank);
  if (!rank.rank)
    name = printable(rank.endpoint);
  Json counts = Json::array();
  for (const OpClass op_class : op_classes)
    counts.push_back(count_text(rank, op_class));
  Json communicators = Json::array();
  const CommunicatorView view(dump_, rank, options_);
  for (const Communicator& communicator : rank.communicators)
    communicators.push_back(view.json(communicator));
  Json lines = Json::array();
  for (std::string& line : common_states({&rank}))
    lines.push_back(std::move(line));
  for (std::string& line : rank_notes(rank, options_.raw))
    lines.push_back(std::move(line));
  Json threads = Json::array();
  for (std::size_t i = 0; rank.stacks && i < rank.stacks->size(); ++i)
    threads.push_back(thread_json(rank, (*rank.stacks)[i]));
  return {{"name", std::move(name)},
          {"place", place_text(rank)},
          {"platform", platform_text(rank)},
          {"mpi", mpi_text(rank)},
          {"call", blocked_words(rank, true)},
          {"held", held_text(rank)},
          {"status", status_cell(alone).text},
          {"counts", std::move(counts)},
          {"communicators", std::move(communicators)},
          {"lines", std::move(lines)},
          {"threads", std::move(threads)},
          {"no_stack", why_no_stack(rank)}};
}

} // namespace mqbridge
