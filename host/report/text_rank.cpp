#include "host/report/names.h"
#include "host/report/operation_rows.h"
#include "host/report/printable.h"
#include "host/report/queue_words.h"
#include "host/report/ranges.h"
#include "host/report/table.h"
#include "host/report/text_parts.h"
#include "host/report/wrap.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace mqbridge {
namespace {

constexpr std::size_t widest_path = 44;

std::string heading(const TextContext& context, const RankDump& rank) {
  std::string who = "Rank " + rank_number(rank);
  if (has_several_jobs(context.dump) && rank.job_id)
    who += " of job " + job_number(rank);
  std::string text = context.paint(Style::heading, who);
  if (rank.status == RankStatus::failed)
    text += "  " + context.paint(Style::bad, "FAILED");
  else if (rank.status == RankStatus::partial)
    text += "  " + context.paint(Style::warning, "PARTIAL");
  const RankError* error = first_error(rank);
  if (!rank.rank)
    text += "  " + shortened(printable(rank.endpoint), widest_path);
  else if (rank.status == RankStatus::failed)
    text += "  " + shortened(printable(rank.host.value_or(rank.endpoint)), widest_path);
  if (!rank.rank || rank.status == RankStatus::failed) {
    if (rank.pid)
      text += fmt::format(" pid {}", *rank.pid);
  }
  if (error && rank.status != RankStatus::ok)
    text += "  " + printable(error->code);
  if (rank.executable)
    text += "  " + shortened(printable(*rank.executable), widest_path);
  if (rank.dll)
    text +=
        "   DLL " + shortened(printable(std::filesystem::path(rank.dll->path).filename().string()),
                              widest_path);
  return text;
}

bool is_identity(const std::vector<std::int64_t>& group) {
  for (std::size_t i = 0; i < group.size(); ++i)
    if (group[i] != static_cast<std::int64_t>(i))
      return false;
  return true;
}

bool has_operations(const Communicator& communicator) {
  return std::any_of(communicator.queues.begin(), communicator.queues.end(),
                     [](const Queue& queue) { return !queue.operations.empty(); });
}

/// Queues without operations, those that say the same together: "send, recv: none that the debug
/// DLL lists", "unexp: not provided".
std::vector<std::string> idle_queues(const RankDump& rank, const Communicator& communicator) {
  std::vector<std::pair<std::string, std::string>> states; // state, queues
  for (const OpClass op_class : op_classes) {
    const Queue& queue = communicator.queue(op_class);
    std::string state = short_state(rank, queue);
    if (state.empty())
      state = queue.total.value_or(0) == 0 ? std::string(nothing_listed(rank, op_class))
                                           : fmt::format("0 of {} shown", *queue.total);
    const auto same = std::find_if(states.begin(), states.end(),
                                   [&](const auto& known) { return known.first == state; });
    if (same == states.end())
      states.emplace_back(state, short_name(op_class));
    else
      same->second += fmt::format(", {}", short_name(op_class));
  }
  std::vector<std::string> parts;
  for (const auto& [state, queues] : states)
    parts.push_back(fmt::format("{}: {}", queues, state));
  return parts;
}

class CommunicatorWriter {
public:
  CommunicatorWriter(const TextContext& context, const RankDump& rank)
      : context_(context), rank_(rank),
        table_(operation_columns(), context.options.width - indent) {
    for (const Communicator& communicator : rank.communicators) {
      names_ = std::max(names_, display_width(display_name(communicator)));
      keys_ = std::max(keys_, display_width(communicator.key));
      for (const OpClass op_class : op_classes)
        operation_rows(communicator, op_class, context.options,
                       [&](const OperationRow& row) { table_.fit(row.cells); });
    }
  }

  void write(const Communicator& communicator) {
    std::string text = heading(communicator);
    if (!has_operations(communicator)) {
      write_idle(communicator, text);
      return;
    }
    context_.line(text);
    if (!titles_written_)
      context_.line(std::string(indent, ' ') + table_.titles(context_.paint));
    titles_written_ = true;
    for (const OpClass op_class : op_classes)
      write_queue(communicator, op_class);
  }

private:
  static constexpr std::size_t indent = 4;

  std::string heading(const Communicator& communicator) const {
    const std::string name = display_name(communicator);
    const std::string key(keys_ - display_width(communicator.key), ' ');
    const std::string padding(names_ - display_width(name), ' ');
    const std::string local =
        communicator.local_rank ? fmt::format("{}", *communicator.local_rank) : "?";
    const bool named_by_repair = communicator.raw_name != communicator.name;
    std::string text =
        fmt::format("  {}{} {}{}{}   rank {} of {}", printable(communicator.key), key, name,
                    named_by_repair ? "*" : "", padding, local, communicator.size);
    if (communicator.group && !is_identity(*communicator.group))
      text += "   global ranks " + range_text(*communicator.group, 8);
    return text;
  }

  /// Behind the heading if all fits there, else below it, in as many lines as that takes.
  void write_idle(const Communicator& communicator, const std::string& heading_line) {
    const std::string gap = "   ";
    const auto parts = idle_queues(rank_, communicator);
    std::string all = heading_line;
    for (const std::string& part : parts)
      all += gap + part;
    if (display_width(all) <= context_.options.width) {
      context_.line(all);
      return;
    }
    context_.line(heading_line);
    std::string line;
    for (const std::string& part : parts) {
      const std::size_t wanted = indent + display_width(line) + gap.size() + display_width(part);
      if (!line.empty() && wanted > context_.options.width) {
        context_.line(std::string(indent, ' ') + line);
        line.clear();
      }
      line += (line.empty() ? "" : gap) + part;
    }
    context_.line(std::string(indent, ' ') + line);
  }

  void write_queue(const Communicator& communicator, OpClass op_class) {
    const Queue& queue = communicator.queue(op_class);
    const std::string start(indent, ' ');
    const std::string detail_start = start + "       ";
    const std::uint64_t left_out =
        operation_rows(communicator, op_class, context_.options, [&](const OperationRow& row) {
          context_.line(start + table_.line(row.cells, context_.paint));
          if (row.detail.empty())
            return;
          for (const std::string& line : wrap_words(row.detail, context_.options.width - 11))
            context_.line(context_.paint(Style::dim, detail_start + line));
        });
    const std::string name = fmt::format("{:5}  ", short_name(op_class));
    if (left_out > 0)
      context_.line(fmt::format("{}{}and {} more  (--show all)", start, name, left_out));
    if (queue.total && *queue.total > queue.operations.size() && short_state(rank_, queue).empty())
      context_.line(fmt::format("{}{}{} of {} shown (filters)", start, name,
                                queue.operations.size(), *queue.total));
    if (const std::string state = long_state(rank_, queue); !state.empty())
      context_.line(start + name + state);
    else if (const auto hidden = never_listed(rank_, op_class); !hidden.empty())
      context_.line(start + name + std::string(hidden));
  }

  const TextContext& context_;
  const RankDump& rank_;
  Table table_;
  std::size_t names_ = 0;
  std::size_t keys_ = 0;
  bool titles_written_ = false;
};

/// What the process as a whole says about its queues, when there is no communicator to say it, nor
/// a message.
std::string without_communicators(const RankDump& rank) {
  for (const RankError& error : rank.errors)
    if (error.code == "mpi.not_initialized" || error.code == "mpi.finalized")
      return "";
  if (rank.mpi && rank.mpi->state == MpiState::not_initialized)
    return "MPI is not initialized: there are no queues yet";
  if (rank.mpi && rank.mpi->state == MpiState::finalized)
    return "MPI is finalized: there are no queues any more";
  if (rank.status == RankStatus::ok)
    return "no communicator has a name that --comm gives";
  return rank.status == RankStatus::failed ? "" : "no communicator was read (unknown, not empty)";
}

void write_repairs(const TextContext& context, const RankDump& rank) {
  std::set<std::string> repairs;
  for (const Communicator& communicator : rank.communicators) {
    if (communicator.raw_name != communicator.name)
      repairs.insert("name");
    for (const Queue& queue : communicator.queues)
      for (const Operation& operation : queue.operations)
        for (const Repair repair : operation.repairs)
          if (repair != Repair::text) // nothing of it is shown
            repairs.insert(std::string(name_of(repair)));
  }
  if (repairs.empty())
    return;
  std::string text;
  for (std::string repair : repairs) {
    std::replace(repair.begin(), repair.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + repair;
  }
  const char* how = context.options.raw ? "" : " (--raw shows the DLL's value)";
  context.line(fmt::format("  * repaired: {}{}", text, how));
}

void write_types_note(const TextContext& context, const RankDump& rank) {
  if (rank.mpi && rank.mpi->types_match == TypesMatch::version)
    context.line(fmt::format("  types from {}: not known to be of this very build; sizes checked",
                             printable(rank.mpi->types_source.value_or("a pack"))));
}

/// "send 1, recv 2 (cut off by --max-stop)"; empty if there is nothing but what the MPI never
/// provides.
std::string busy_queues(const RankDump& rank, const Communicator& communicator) {
  std::string counts;
  for (const OpClass op_class : op_classes) {
    const Queue& queue = communicator.queue(op_class);
    const bool expected =
        queue.reason == QueueReason::not_provided || queue.state == QueueState::not_requested;
    const std::string state = expected ? "" : short_state(rank, queue);
    if (queue.operations.empty() && state.empty())
      continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", short_name(op_class),
                          queue.operations.size());
    counts += state.empty() ? "" : " (" + state + ")";
  }
  return counts;
}

/// Which targets they are, where their ranks do not tell it.
void write_targets(const TextContext& context, const RankGroup& group) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(group.ranks.size(), most); ++i) {
    const RankDump& rank = *group.ranks[i];
    text += (text.empty() ? "" : ", ") + shortened(printable(rank.endpoint), widest_path);
    text += rank.pid ? fmt::format(" pid {}", *rank.pid) : "";
  }
  if (group.ranks.size() > most)
    text += fmt::format(" and {} more", group.ranks.size() - most);
  for (const std::string& line : wrap_words(text, context.options.width - 2))
    context.line("  " + line);
}

/// The key of the communicator at this place, if it is the same one on all ranks of the group.
std::string common_key(const RankGroup& group, std::size_t index) {
  const std::string& key = group.example().communicators[index].key;
  const bool common =
      std::all_of(group.ranks.begin(), group.ranks.end(), [&](const RankDump* rank) {
        return index < rank->communicators.size() && rank->communicators[index].key == key;
      });
  return common ? printable(key) : "";
}

} // namespace

void write_errors(const TextContext& context, const RankDump& rank) {
  // The heading has the code of the first error: its message comes next, without the code.
  const RankError* in_heading = first_error(rank);
  if (in_heading != nullptr)
    write_message(context, Style::bad, in_heading->message, in_heading->hint);
  for (const RankError& error : rank.errors) {
    if (&error == in_heading)
      continue;
    const bool warning = error.level == RankError::Level::warning;
    write_message(context, warning ? Style::warning : Style::bad,
                  (warning ? "warning " : "") + error.code + ": " + error.message, error.hint);
  }
}

void write_rank(const TextContext& context, const RankDump& rank) {
  context.line();
  context.line(heading(context, rank));
  CommunicatorWriter writer(context, rank);
  for (const Communicator& communicator : rank.communicators)
    writer.write(communicator);
  if (rank.communicators.empty())
    if (const std::string why = without_communicators(rank); !why.empty())
      context.line("  " + why);
  write_repairs(context, rank);
  write_types_note(context, rank);
  write_errors(context, rank);
}

void write_group_details(const TextContext& context, const RankGroup& group) {
  const RankDump& example = group.example();
  std::string queues;
  for (std::size_t i = 0; i < example.communicators.size(); ++i) {
    const std::string counts = busy_queues(example, example.communicators[i]);
    if (counts.empty())
      continue;
    const std::string key = common_key(group, i);
    queues += fmt::format("{}{}{}{}: {}", queues.empty() ? "" : "; ", key, key.empty() ? "" : " ",
                          display_name(example.communicators[i]), counts);
  }
  if (queues.empty() && example.errors.empty() && example.rank)
    return;
  context.line();
  std::string who = (group.ranks.size() == 1 ? "Rank " : "Ranks ") + rank_text(group);
  if (has_several_jobs(context.dump) && example.job_id)
    who += " of job " + job_number(example);
  const RankError* error = first_error(example);
  context.line(context.paint(Style::heading, who) +
               (error ? "  " + context.paint(Style::bad, printable(error->code)) : ""));
  if (!example.rank)
    write_targets(context, group);
  for (const std::string& line : wrap_words(queues, context.options.width - 2))
    context.line("  " + line);
  write_errors(context, example);
}

} // namespace mqbridge
