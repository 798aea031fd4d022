#include "host/dump/values/ranges.h"
#include "host/mqs/interpret.h"
#include "host/report/fitted_text.h"
#include "host/report/idle_communicators.h"
#include "host/report/inside_lines.h"
#include "host/report/operation_rows.h"
#include "host/report/queue_words.h"
#include "host/report/table.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t indent = 4;
/// Details stand behind the indent and the column QUEUE.
constexpr std::size_t detail_indent = indent + 7;

bool is_identity(const std::vector<std::int64_t>& group) {
  for (std::size_t i = 0; i < group.size(); ++i)
    if (group[i] != static_cast<std::int64_t>(i))
      return false;
  return true;
}

/// "job 1 ranks 0-3, job 2 ranks 0,1"
std::string member_text(const std::vector<Member>& members) {
  constexpr std::size_t most_jobs = 8;
  std::string text;
  std::size_t jobs = 0;
  for (std::size_t i = 0; i < members.size();) {
    const std::string& job = members[i].job;
    std::vector<std::int64_t> ranks;
    for (; i < members.size() && members[i].job == job; ++i)
      ranks.push_back(members[i].rank);
    if (++jobs > most_jobs)
      return text + ", ...";
    text += fmt::format("{}job {} ranks {}", text.empty() ? "" : ", ",
                        printable(job.substr(0, job.find(':'))), range_text(ranks, 8));
  }
  return text;
}

/// The other side of an intercommunicator.
std::string remote_text(const Group& remote) {
  if (!remote.members.empty())
    return member_text(remote.members);
  return remote.ranks ? "global ranks " + range_text(*remote.ranks, 8) : "another group";
}

bool has_own_operations(const Communicator& communicator, bool with_returned) {
  const auto is_shown = [&](const Operation& operation) {
    return is_own(operation) && (with_returned || !is_returned_send(operation));
  };
  return std::any_of(
      communicator.queues.begin(), communicator.queues.end(), [&](const Queue& queue) {
        return std::any_of(queue.operations.begin(), queue.operations.end(), is_shown);
      });
}

/// The ranks whose unexpected messages on this communicator are known.
std::set<std::int64_t> seen_receivers(const Dump& dump, const Communicator& communicator) {
  std::set<std::int64_t> ranks;
  for (const RankDump& rank : dump.ranks)
    for (const Communicator& other : rank.communicators)
      if (rank.rank && other.key == communicator.key &&
          other.queue(OpClass::unexpected).state == QueueState::available)
        ranks.insert(*rank.rank);
  return ranks;
}

/// The line about sends that have returned. Empty: there are none.
std::string returned_line(const Dump& dump, const Communicator& communicator) {
  const auto receivers = seen_receivers(dump, communicator);
  std::uint64_t count = 0;
  std::uint64_t not_received = 0;
  for (const Operation& send : communicator.queue(OpClass::send).operations) {
    if (!is_returned_send(send))
      continue;
    ++count;
    not_received += send.peer.global_rank && receivers.contains(*send.peer.global_rank);
  }
  if (count == 0)
    return {};
  const std::string_view messages = count == 1 ? "its message is" : "their messages are";
  return fmt::format("{} {} returned{}  (--full)", count, count == 1 ? "send has" : "sends have",
                     not_received == count
                         ? fmt::format(", and {} not received yet", messages)
                         : fmt::format("; nothing says that {} received", messages));
}

/// Statements, each with the names that it is about: "empty" about "send, recv".
class Sayings {
public:
  void add(const std::string& what, std::string_view of) {
    const auto same = std::find_if(all_.begin(), all_.end(),
                                   [&](const auto& known) { return known.first == what; });
    if (same == all_.end())
      all_.emplace_back(what, of);
    else
      same->second += fmt::format(", {}", of);
  }
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

private:
  std::vector<std::pair<std::string, std::string>> all_;
};

/// One line about queues without operations: "send, recv: none that the debug DLL lists". Queues
/// that the rank as a whole has a statement about are left out.
std::string idle_queues(const RankDump& rank, const Communicator& communicator) {
  Sayings sayings;
  for (const OpClass op_class : op_classes) {
    if (!common_state(rank, op_class).empty())
      continue;
    const Queue& queue = communicator.queue(op_class);
    std::string state = short_state(rank, queue);
    const auto total = own_total(queue, count_operations(queue, op_class)).value_or(0);
    if (state.empty())
      state = total == 0 ? std::string(nothing_listed(rank, op_class))
                         : fmt::format("0 of {} shown", total);
    sayings.add(state, short_name(op_class));
  }
  std::string text;
  for (const auto& [state, queues] : sayings.all())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "   ", queues, state);
  return text;
}

class CommunicatorWriter {
public:
  CommunicatorWriter(const TextContext& context, const RankDump& rank,
                     const IdleCommunicators& idle)
      : context_(context), rank_(rank), idle_(idle), waits_(rank),
        table_(operation_columns(), context.options.width - indent) {
    for (const Communicator& communicator : rank.communicators) {
      if (idle.contains(communicator))
        continue;
      names_ = std::max(names_, display_width(display_name(communicator)));
      keys_ = std::max(keys_, display_width(communicator.key));
      for (const OpClass op_class : op_classes)
        operation_rows(communicator, op_class, waits_, context.options,
                       [&](const OperationRow& row) { table_.fit(row.cells); });
    }
    without_buffers_ = !table_.narrow().empty();
  }

  void write(const Communicator& communicator) {
    if (idle_.contains(communicator))
      return;
    std::vector<Cell> pieces = heading(communicator);
    const auto inside = inside_lines(communicator);
    if (has_own_operations(communicator, context_.options.full)) {
      write_flow(context_, pieces, indent);
      if (!titles_written_)
        context_.line(std::string(indent, ' ') + table_.titles(context_.paint));
      titles_written_ = true;
      write_lines(inside);
      for (const OpClass op_class : op_classes)
        write_queue(communicator, op_class, !inside.empty());
    } else {
      if (const std::string idle = idle_queues(rank_, communicator); !idle.empty())
        pieces.push_back({"   " + idle});
      write_flow(context_, pieces, indent);
      write_lines(inside);
    }
    write_lines(message_lines(communicator));
    if (const std::string returned = returned_line(context_.dump, communicator);
        !returned.empty() && !context_.options.full)
      write_below(returned, Style::dim, indent);
    if (context_.options.full)
      if (const std::string counters = counters_line(communicator); !counters.empty())
        write_below(counters, Style::plain, indent);
  }

  void write_end() const {
    if (titles_written_ && without_buffers_)
      write_message(context_, Style::dim, "no room for BUFFER: --format json has it", "");
  }

private:
  std::vector<Cell> heading(const Communicator& communicator) const {
    const std::string name = display_name(communicator);
    const std::string key(keys_ - display_width(communicator.key), ' ');
    const std::string padding(names_ - display_width(name), ' ');
    const std::string local =
        communicator.local_rank ? fmt::format("{}", *communicator.local_rank) : "?";
    std::vector<Cell> pieces = {
        {fmt::format("  {}{} {}", printable(communicator.key), key, name)},
        {fmt::format("{}   rank {} of {}", padding, local, communicator.size)}};
    if (communicator.internal)
      pieces.push_back({"   internal"});
    if (communicator.group && !is_identity(*communicator.group))
      pieces.push_back({"   global ranks " + range_text(*communicator.group, 8)});
    if (!communicator.members.empty())
      pieces.push_back({"   of " + member_text(communicator.members)});
    if (communicator.kind == CommunicatorKind::inter)
      pieces.push_back({"   to " + remote_text(communicator.remote)});
    return pieces;
  }

  void write_lines(const std::vector<InsideLine>& lines) const {
    for (const InsideLine& line : lines)
      write_below(line.text(), Style::plain, indent);
  }

  /// Says once who it is that lists what the debug DLL does not.
  void add_source(OperationRow& row, bool& said) const {
    if (row.source != OpSource::mqbridge || std::exchange(said, true))
      return;
    row.note.text += row.note.text.empty() ? "" : "  ";
    row.note.text += read_by_mqbridge(rank_);
  }

  void write_queue(const Communicator& communicator, OpClass op_class, bool say_empty) {
    const Queue& queue = communicator.queue(op_class);
    bool source_said = false;
    const std::uint64_t left_out =
        operation_rows(communicator, op_class, waits_, context_.options, [&](OperationRow row) {
          add_source(row, source_said);
          write_row(row);
        });
    const std::string start =
        std::string(indent, ' ') + fmt::format("{:5}  ", short_name(op_class));
    if (left_out > 0)
      context_.line(fmt::format("{}and {} more  (--show all)", start, left_out));
    const OperationCounts counts = count_operations(queue, op_class);
    const auto total = own_total(queue, counts);
    const bool ended = short_state(rank_, queue).empty();
    if (ended && total && *total > counts.own())
      context_.line(fmt::format("{}{} of {} shown (filters)", start, counts.own(), *total));
    else if (ended && say_empty && counts.own() == 0)
      context_.line(fmt::format("{}{}", start, nothing_listed(rank_, op_class)));
    if (!common_state(rank_, op_class).empty())
      return;
    if (const std::string state = long_state(rank_, queue); !state.empty())
      write_flow(context_, {{start + state}}, detail_indent);
  }

  void write_row(const OperationRow& row) {
    const Paint& paint = context_.paint;
    std::string line = std::string(indent, ' ') + table_.line(row.cells, paint);
    const bool fits =
        display_width(std::string(indent, ' ') + table_.line(row.cells, Paint(false))) + 2 +
            display_width(row.note.text) <=
        context_.options.width;
    if (!row.note.text.empty() && fits)
      line += "  " + paint(row.note.style, row.note.text);
    context_.line(line);
    if (!fits)
      write_below(row.note.text, row.note.style, detail_indent);
    write_below(row.detail, Style::dim, detail_indent);
  }

  void write_below(const std::string& text, Style style, std::size_t at) const {
    for (const std::string& line : wrap_words(text, context_.options.width - at))
      context_.line(context_.paint(style, std::string(at, ' ') + line));
  }

  const TextContext& context_;
  const RankDump& rank_;
  const IdleCommunicators& idle_;
  WaitedWords waits_;
  Table table_;
  std::size_t names_ = 0;
  std::size_t keys_ = 0;
  bool titles_written_ = false;
  bool without_buffers_ = false;
};

/// "sends, receives: not asked for (--queue)", each as one line.
std::vector<std::string> common_states_of(const RankDump& rank) {
  Sayings sayings;
  for (const OpClass op_class : op_classes) {
    std::string state = common_state(rank, op_class);
    if (state.empty() && !rank.communicators.empty())
      state = never_listed(rank, op_class);
    if (!state.empty())
      sayings.add(state, op_class == OpClass::send      ? "sends"
                         : op_class == OpClass::receive ? "receives"
                                                        : "unexpected messages");
  }
  std::vector<std::string> lines;
  for (const auto& [state, queues] : sayings.all())
    lines.push_back(fmt::format("{}: {}", queues, state));
  return lines;
}

} // namespace

void write_communicators(const TextContext& context, const RankDump& rank,
                         const IdleCommunicators& idle) {
  CommunicatorWriter writer(context, rank, idle);
  for (const Communicator& communicator : rank.communicators)
    writer.write(communicator);
  writer.write_end();
  for (const std::string& line : common_states({&rank}))
    write_message(context, Style::plain, line, "");
}

std::vector<std::string> common_states(const std::vector<const RankDump*>& ranks) {
  std::vector<std::string> said;
  for (const RankDump* rank : ranks)
    for (std::string& line : common_states_of(*rank))
      if (std::find(said.begin(), said.end(), line) == said.end())
        said.push_back(std::move(line));
  return said;
}

} // namespace mqbridge
