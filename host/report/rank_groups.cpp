#include "host/report/rank_groups.h"

#include "host/document/names.h"
#include "host/dump/values/ranges.h"
#include "host/launch/node_names.h"
#include "host/report/causes.h"
#include "host/report/fitted_text.h"
#include "host/report/inside_lines.h"
#include "host/report/queue_words.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

namespace mqbridge {
namespace {

using Likeness = std::string (*)(const RankDump& rank);

/// A key of all that the folded table shows of a rank, except its numbers of operations and times.
std::string outer_likeness(const RankDump& rank) {
  std::string key = fmt::format("{}\t{}\t{}", rank.job_id.value_or(""), rank.rank.has_value(),
                                static_cast<int>(rank.status));
  if (rank.platform)
    key += fmt::format("\t{} {} {}", rank.platform->architecture,
                       static_cast<int>(rank.platform->byte_order), rank.platform->pointer_size);
  if (rank.mpi)
    key += fmt::format("\t{} {} {} {}", rank.mpi->name, rank.mpi->version.value_or(""),
                       rank.mpi->transport.value_or(""), name_of(rank.mpi->state));
  for (const Cause& cause : causes_of(rank.errors))
    key += fmt::format("\n{} {}", cause.shown().code, cause.others.size());
  return key;
}

/// The same with its queues: everything the folded table and its details show, but times.
std::string whole_likeness(const RankDump& rank) {
  std::string key = outer_likeness(rank);
  for (const Communicator& communicator : rank.communicators) {
    // Not by its key: every rank has a communicator of its own, such as MPI_COMM_SELF.
    key += fmt::format("\n{}\t{}", communicator.name, communicator.size);
    for (const OpClass op_class : op_classes) {
      const Queue& queue = communicator.queue(op_class);
      const OperationCounts counts = count_operations(queue, op_class);
      key +=
          fmt::format("\t{} {} {} {} {}", static_cast<int>(queue.state),
                      static_cast<int>(queue.reason), counts_text(counts),
                      own_total(queue, counts).value_or(0), static_cast<int>(queue.truncated_by));
    }
    for (const InsideLine& line : inside_lines(communicator))
      key += '\t' + line.what; // not with its peers: they differ from rank to rank
  }
  return key;
}

std::vector<RankGroup> group_by(const Dump& dump, Likeness likeness) {
  std::vector<RankGroup> groups;
  std::map<std::string, std::size_t> known;
  for (const RankDump& rank : dump.ranks) {
    const auto [at, added] = known.try_emplace(likeness(rank), groups.size());
    if (added)
      groups.emplace_back();
    groups[at->second].ranks.push_back(&rank);
  }
  return groups;
}

} // namespace

std::vector<RankGroup> group_ranks(const Dump& dump) {
  auto groups = group_by(dump, whole_likeness);
  if (groups.size() <= most_groups)
    return groups;
  groups = group_by(dump, outer_likeness);
  for (RankGroup& group : groups) {
    const auto first = whole_likeness(group.example());
    group.queues_alike =
        std::all_of(group.ranks.begin() + 1, group.ranks.end(),
                    [&](const RankDump* rank) { return whole_likeness(*rank) == first; });
  }
  return groups;
}

std::string rank_text(const RankGroup& group, std::size_t width) {
  std::vector<std::int64_t> ranks;
  for (const RankDump* rank : group.ranks)
    if (rank->rank)
      ranks.push_back(*rank->rank);
  if (ranks.empty())
    return "-";
  std::size_t runs = 12;
  std::string text = range_text(ranks, runs);
  while (runs > 1 && display_width(text) > width)
    text = range_text(ranks, --runs);
  return text;
}

std::string hosts_text(const RankGroup& group, std::size_t width) {
  std::set<std::string> hosts;
  for (const RankDump* rank : group.ranks)
    hosts.insert(place_text(*rank));
  std::string text = node_list_text(std::vector<std::string>(hosts.begin(), hosts.end()));
  if (display_width(text) <= width)
    return text;
  return hosts.size() == 1 ? shortened(text, width) : fmt::format("{} hosts", hosts.size());
}

std::string counts_of(const RankGroup& group, OpClass op_class) {
  if (group.queues_alike)
    return count_text(group.example(), op_class);
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
  std::set<std::string> others;
  for (const RankDump* rank : group.ranks) {
    const std::string text = count_text(*rank, op_class);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{}) {
      least = std::min(least.value_or(number), number);
      most = std::max(most.value_or(number), number);
    }
    if (error != std::errc{} || end != text.data() + text.size())
      others.insert(error == std::errc{} ? "..." : text); // "3, 2 done": more than numbers
  }
  std::string text;
  if (least)
    text = *least == *most ? fmt::to_string(*least) : fmt::format("{}-{}", *least, *most);
  for (const std::string& other : others)
    text += (text.empty() ? "" : ",") + other;
  return text;
}

} // namespace mqbridge
