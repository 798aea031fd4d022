#include "host/report/blocked_words.h"
#include "host/report/fitted_text.h"
#include "host/report/idle_communicators.h"
#include "host/report/inside_lines.h"
#include "host/report/queue_words.h"
#include "host/report/rank_words.h"
#include "host/report/shared_errors.h"
#include "host/report/table.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace mqbridge {
namespace {

constexpr std::size_t widest_path = 44;

/// "send 1, recv 2 (cut off by --max-stop)"; empty if there is nothing apart from queues that the
/// MPI never provides.
std::string busy_queues(const RankDump& rank, const Communicator& communicator) {
  std::string counts;
  for (const OpClass op_class : op_classes) {
    const Queue& queue = communicator.queue(op_class);
    const bool expected =
        queue.reason == QueueReason::not_provided || queue.reason == QueueReason::types_missing ||
        queue.reason == QueueReason::senders_unseen || queue.state == QueueState::not_requested;
    const std::string state = expected ? "" : short_state(rank, queue);
    const OperationCounts own = count_operations(queue, op_class);
    if (own.own() == 0 && state.empty())
      continue;
    counts +=
        fmt::format("{}{} {}", counts.empty() ? "" : ", ", short_name(op_class), counts_text(own));
    counts += state.empty() ? "" : " (" + state + ")";
  }
  return counts;
}

/// "inside barrier"; with the ranks it waits for if they are the same on all ranks of the group:
/// "inside barrier (waits for 3)".
std::string common_inside(const RankGroup& group, std::size_t index) {
  const auto lines = inside_lines(group.example().communicators[index]);
  const bool alike =
      lines.empty() || std::all_of(group.ranks.begin(), group.ranks.end(), [&](const auto* rank) {
        return inside_lines(rank->communicators[index]) == lines;
      });
  std::string text;
  for (const InsideLine& line : lines) {
    text += (text.empty() ? "" : ", ") + line.what;
    if (alike && !line.detail.empty())
      text += " (" + line.detail + ")";
  }
  return text;
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

bool has_own_errors(const RankDump& rank, const SharedErrors& shared) {
  return !shared.own(rank).empty();
}

/// A rank that failed in the same way as others is shown with them, and has no part of its own.
bool has_own_part(const RankDump& rank, const SharedErrors& shared) {
  return rank.status != RankStatus::failed || !rank.communicators.empty() ||
         has_own_errors(rank, shared) || rank.errors.empty() || !blocked_words(rank).empty();
}

/// The group's first rank with errors that no other rank shares; nullptr: there is none.
const RankDump* first_with_own_errors(const RankGroup& group, const SharedErrors& shared) {
  const auto found = std::find_if(group.ranks.begin(), group.ranks.end(),
                                  [&](const auto* rank) { return has_own_errors(*rank, shared); });
  return found == group.ranks.end() ? nullptr : *found;
}

/// Writes one rank's errors for the group: their codes are the same on all its ranks.
void write_errors_of_one(const TextContext& context, const RankGroup& group, const RankDump& rank,
                         const SharedErrors& shared) {
  write_errors(context, rank, shared);
  if (group.ranks.size() > 1)
    write_message(context, Style::dim,
                  fmt::format("(of {}; the others' words differ: --full)",
                              rank.rank ? "rank " + rank_number(rank) : rank.endpoint),
                  "");
}

/// Where the ranks of a group are in different calls: "ranks 0-1,3: in MPI_Allreduce at solve.c:9".
void write_calls(const TextContext& context,
                 const std::vector<std::pair<std::string, RankGroup>>& calls) {
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; calls.size() > 1 && i < std::min(calls.size(), most); ++i) {
    const auto& [words, group] = calls[i];
    write_message(context, Style::plain,
                  fmt::format("{} {}: {}", group.ranks.size() == 1 ? "rank" : "ranks",
                              rank_text(group, context.options.width / 3),
                              words.empty() ? "call not known" : words),
                  "");
  }
  if (calls.size() > most)
    write_message(context, Style::plain,
                  fmt::format("and {} other calls: mqbridge stacks", calls.size() - most), "");
}

/// "ssh:n17:41822", "n17:7001@41822"
bool names_process(std::string_view endpoint, std::int64_t pid) {
  const auto number = fmt::to_string(pid);
  return endpoint.ends_with(":" + number) || endpoint.ends_with("@" + number);
}

} // namespace

void write_heading(const TextContext& context, const RankDump& rank) {
  std::string who = "Rank " + rank_number(rank);
  if (has_several_jobs(context.dump) && rank.job_id)
    who += " of job " + job_number(rank);
  std::vector<Cell> pieces = {{who, Style::heading}};
  if (rank.status == RankStatus::failed)
    pieces.push_back({"  FAILED", Style::bad});
  else if (rank.status == RankStatus::partial)
    pieces.push_back({"  PARTIAL", Style::warning});
  if (!rank.rank)
    pieces.push_back({"  " + shortened(printable(rank.endpoint), widest_path)});
  else if (rank.status == RankStatus::failed)
    pieces.push_back({"  " + shortened(printable(rank.host.value_or(rank.endpoint)), widest_path)});
  if (rank.pid && (!rank.rank || rank.status == RankStatus::failed))
    pieces.push_back({fmt::format(" pid {}", *rank.pid)});
  if (const RankError* error = first_error(rank); error && rank.status != RankStatus::ok)
    pieces.push_back({"  " + printable(error->code)});
  const std::string call = blocked_words(rank, true);
  if (!call.empty())
    pieces.push_back({"  " + call});
  if (rank.executable)
    pieces.push_back(
        {(call.empty() ? "  " : "   ") + shortened(printable(*rank.executable), widest_path)});
  if (rank.dll)
    pieces.push_back(
        {"   DLL " + shortened(printable(std::filesystem::path(rank.dll->path).filename().string()),
                               widest_path)});
  write_flow(context, pieces);
}

std::string group_name(const TextContext& context, const RankGroup& group) {
  const std::size_t width = context.options.width * 2 / 3; // there is more in the line
  std::string who = (group.ranks.size() == 1 ? "Rank " : "Ranks ") + rank_text(group, width);
  if (has_several_jobs(context.dump) && group.example().job_id)
    who += " of job " + job_number(group.example());
  return who;
}

std::string group_place(const TextContext& context, const RankGroup& group) {
  if (!is_folded(context) || !has_several_hosts(context.dump))
    return {};
  return "  on " + hosts_text(group, context.options.width / 2);
}

void write_targets(const TextContext& context, const RankGroup& group) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(group.ranks.size(), most); ++i) {
    const RankDump& rank = *group.ranks[i];
    text += (text.empty() ? "" : ", ") + shortened(printable(rank.endpoint), widest_path);
    if (rank.pid && !names_process(rank.endpoint, *rank.pid))
      text += fmt::format(" pid {}", *rank.pid);
  }
  if (group.ranks.size() > most)
    text += fmt::format(" and {} more", group.ranks.size() - most);
  for (const std::string& line : wrap_words(text, context.options.width - 2))
    context.line("  " + line);
}

void write_rank(const TextContext& context, const RankDump& rank, const IdleCommunicators& idle,
                const SharedErrors& shared) {
  if (!has_own_part(rank, shared))
    return;
  context.line();
  write_heading(context, rank);
  if (rank.mpi && rank.mpi->state == MpiState::finalizing && !rank.communicators.empty())
    context.line("  in MPI_Finalize: what it has not freed yet");
  if (const auto helpers = helper_words(rank); context.options.all_threads && !helpers.empty())
    write_message(context, Style::plain, helpers, "");
  write_communicators(context, rank, idle);
  for (const std::string& line : rank_notes(rank, context.options.raw))
    write_message(context, Style::plain, line, "");
  write_errors(context, rank, shared);
}

void write_group_details(const TextContext& context, const RankGroup& group,
                         const SharedErrors& shared) {
  const RankDump& example = group.example();
  std::string queues;
  if (!group.queues_alike)
    queues = "the queues of these ranks differ: --rank LIST shows those of some, --full of all";
  for (std::size_t i = 0; group.queues_alike && i < example.communicators.size(); ++i) {
    std::string counts = busy_queues(example, example.communicators[i]);
    if (const std::string inside = common_inside(group, i); !inside.empty())
      counts += (counts.empty() ? "" : ", ") + inside;
    if (counts.empty())
      continue;
    const std::string key = common_key(group, i);
    queues += fmt::format("{}{}{}{}: {}", queues.empty() ? "" : "; ", key, key.empty() ? "" : " ",
                          display_name(example.communicators[i]), counts);
  }
  const bool said_elsewhere = example.rank || !example.errors.empty();
  const RankDump* own = first_with_own_errors(group, shared);
  const auto calls = by_blocked_words(group);
  const std::string call = calls.size() == 1 ? calls.front().first : "";
  if (queues.empty() && own == nullptr && said_elsewhere && calls.size() == 1 && call.empty())
    return;
  context.line();
  std::vector<Cell> pieces = {{group_name(context, group), Style::heading}};
  if (!call.empty())
    pieces.push_back({"  " + call});
  if (own != nullptr)
    pieces.push_back({group_place(context, group)});
  if (const RankError* error = first_error(example))
    pieces.push_back({"  " + printable(error->code), Style::bad});
  write_flow(context, pieces);
  if (!example.rank)
    write_targets(context, group);
  write_calls(context, calls);
  for (const std::string& line : wrap_words(queues, context.options.width - 2))
    context.line("  " + line);
  if (own != nullptr)
    write_errors_of_one(context, group, *own, shared);
}

} // namespace mqbridge
