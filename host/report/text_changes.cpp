#include "host/document/names.h"
#include "host/document/outcome.h"
#include "host/dump/values/changes.h"
#include "host/dump/values/ranges.h"
#include "host/dump/values/times.h"
#include "host/report/blocked_words.h"
#include "host/report/fitted_text.h"
#include "host/report/queue_words.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"
#include "rsp/seconds.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t most_groups = 12;
constexpr std::size_t label_width = 9; ///< "CHANGES  "

/// The word that JSON has, or a shorter one where that is wider than the column.
std::string_view word_of(RankChange change) {
  return change == RankChange::other_process ? "other" : name_of(change);
}

/// Most telling first.
constexpr std::array in_order = {RankChange::moved,         RankChange::same,
                                 RankChange::gone,          RankChange::appeared,
                                 RankChange::other_process, RankChange::unknown};

/// "in MPI_Recv at halo.c:212"; "?" where it is not known.
std::string words_of(const std::optional<std::vector<BlockedCall>>& calls) {
  RankDump rank;
  rank.blocked_in = calls;
  const auto words = blocked_words(rank);
  return words.empty() ? "?" : words;
}

std::string call_words(const RankChanges& rank) {
  const auto now = words_of(rank.calls_after);
  if (!rank.calls_moved)
    return now == "?" ? "in what is not known" : now;
  const auto then = words_of(rank.calls_before);
  return now == then ? now + ", another time" : fmt::format("was {}; now {}", then, now);
}

std::string message_words(const RankChanges& rank) {
  if (!rank.channels)
    return "messages are not counted";
  std::int64_t sent = 0;
  std::int64_t arrived = 0;
  for (const ChannelChange& channel : *rank.channels) {
    sent += channel.sent.value_or(0);
    arrived += channel.arrived.value_or(0);
  }
  return rank.channels->empty() ? "no message moved"
                                : fmt::format("messages: {} sent, {} arrived", sent, arrived);
}

std::uint64_t count_of(const std::vector<OperationChange>& operations) {
  std::uint64_t count = 0;
  for (const OperationChange& operation : operations)
    count += operation.count;
  return count;
}

std::string operation_words(const RankChanges& rank) {
  const auto gone = count_of(rank.gone);
  const auto appeared = count_of(rank.appeared);
  std::string words = "operations: ";
  if (gone > 0)
    words += fmt::format("{} gone, ", gone);
  if (appeared > 0)
    words += fmt::format("{} new, ", appeared);
  words += fmt::format("{} as before", rank.stayed);
  std::string unsure;
  for (const OpClass queue : rank.unsure)
    unsure += fmt::format("{}{}", unsure.empty() ? "" : ", ", short_name(queue));
  return unsure.empty() ? words : words + fmt::format(" (not all were seen: {})", unsure);
}

std::string words_of(const RankChanges& rank) {
  switch (rank.change) {
  case RankChange::same:
  case RankChange::moved:
    return call_words(rank) + "; " + message_words(rank) + "; " + operation_words(rank);
  case RankChange::appeared:
    return "in the later document alone, " + words_of(rank.calls_after);
  case RankChange::gone:
    return "in the earlier document alone, " + words_of(rank.calls_before);
  case RankChange::other_process:
    return "another process has this rank";
  case RankChange::unknown:
    return "one of the documents shows nothing of it";
  }
  return "";
}

/// "recv from 3 tag 17, 4 B, on C1"
std::string operation_text(const OperationChange& operation) {
  const OperationKind& kind = operation.kind;
  const auto or_any = [](bool any, const std::optional<std::int64_t>& value) {
    return any ? "ANY" : value ? fmt::to_string(*value) : "?";
  };
  auto text = operation.count > 1 ? fmt::format("{} x ", operation.count) : std::string();
  if (kind.collective != Collective::none)
    text += fmt::format("inside {}: ", name_of(kind.collective));
  text += fmt::format("{} {} {} tag {}", short_name(kind.queue),
                      kind.queue == OpClass::send ? "to" : "from", or_any(kind.any_peer, kind.peer),
                      or_any(kind.any_tag, kind.tag));
  if (kind.length)
    text += ", " + size_text(*kind.length);
  return text + " on " + printable(kind.communicator);
}

struct ChangeGroup {
  RankChange change;
  std::string words;
  std::vector<const RankChanges*> ranks;
};

class ChangesWriter {
public:
  ChangesWriter(const TextContext& context, const Changes& changes)
      : context_(context), changes_(changes) {
    for (const RankChanges& rank : changes.ranks)
      several_jobs_ = several_jobs_ || rank.job_id != changes.ranks.front().job_id;
    for (const RankChange change : in_order)
      for (const RankChanges& rank : changes.ranks)
        if (rank.change == change)
          add(rank);
  }

  void write() const {
    write_line(context_.paint(Style::heading, "CHANGES  "), label_width, summary());
    const auto count =
        context_.options.full ? groups_.size() : std::min(groups_.size(), most_groups);
    std::size_t names = 0;
    for (std::size_t i = 0; i < count; ++i)
      names = std::max(names, display_width(ranks_text(groups_[i])));
    for (std::size_t i = 0; i < count; ++i)
      write_group(groups_[i], names);
    if (count < groups_.size())
      context_.line(
          fmt::format("{:{}}and {} more kinds: --full", "", label_width, groups_.size() - count));
  }

private:
  void add(const RankChanges& rank) {
    const auto words = words_of(rank);
    const auto [known, is_new] =
        index_.try_emplace({rank.change, rank.job_id.value_or(""), words}, groups_.size());
    if (is_new)
      groups_.push_back({rank.change, words, {}});
    groups_[known->second].ranks.push_back(&rank);
  }

  /// "in 5.0 s: 1 rank moved, 3 did not, 1 is gone"
  std::string summary() const {
    const auto from = parse_rfc3339(changes_.before);
    const auto to = parse_rfc3339(changes_.after);
    std::string text;
    if (from && to)
      text = fmt::format("in {:.1f} s: ", in_seconds(*to - *from));
    bool first = true;
    for (const RankChange change : in_order) {
      const auto count = std::ranges::count(changes_.ranks, change, &RankChanges::change);
      if (count == 0)
        continue;
      text += fmt::format("{}{}{}{}", first ? "" : ", ", count,
                          !first       ? ""
                          : count == 1 ? " rank"
                                       : " ranks",
                          verb_of(change, count == 1));
      first = false;
    }
    return first ? text + "no rank is known by its number" : text;
  }

  static std::string_view verb_of(RankChange change, bool one) {
    switch (change) {
    case RankChange::same:
      return " did not move";
    case RankChange::moved:
      return " moved";
    case RankChange::appeared:
      return one ? " is new" : " are new";
    case RankChange::gone:
      return one ? " is gone" : " are gone";
    case RankChange::other_process:
      return one ? " is another process" : " are other processes";
    case RankChange::unknown:
      return one ? " is not known" : " are not known";
    }
    return "";
  }

  std::string ranks_text(const ChangeGroup& group) const {
    std::vector<std::int64_t> numbers;
    for (const RankChanges* rank : group.ranks)
      numbers.push_back(rank->rank);
    auto text =
        fmt::format("{} {}", numbers.size() == 1 ? "rank" : "ranks", range_text(numbers, 6));
    const auto job = group.ranks.front()->job_id.value_or("");
    return several_jobs_ ? fmt::format("{} of job {}", text, printable(job_number(job))) : text;
  }

  void write_group(const ChangeGroup& group, std::size_t names) const {
    const auto name = ranks_text(group);
    const auto style = group.change == RankChange::moved  ? Style::good
                       : group.change == RankChange::same ? Style::plain
                                                          : Style::warning;
    const auto start =
        context_.paint(style, fmt::format("{:<{}}", word_of(group.change), label_width)) + name +
        std::string(names - display_width(name) + 2, ' ');
    const auto column = label_width + names + 2;
    write_line(start, column, group.words);
    if (context_.options.full || (group.ranks.size() == 1 && changes_.ranks.size() <= 8))
      for (const RankChanges* rank : group.ranks)
        write_details(*rank, column, group.ranks.size() > 1);
  }

  void write_details(const RankChanges& rank, std::size_t column, bool named) const {
    const std::string start(column, ' ');
    const auto name = named ? fmt::format("rank {}: ", rank.rank) : std::string();
    if (const auto channels = channel_text(rank); !channels.empty())
      write_line(start, column, name + channels);
    for (const auto& [word, operations] :
         {std::pair("gone", &rank.gone), std::pair("new", &rank.appeared)}) {
      const auto shown =
          context_.options.full ? operations->size() : std::min(operations->size(), most_groups);
      for (std::size_t i = 0; i < shown; ++i)
        write_line(start, column,
                   fmt::format("{}{}: {}", name, word, operation_text((*operations)[i])));
      if (shown < operations->size())
        write_line(start, column,
                   fmt::format("{}: and {} more kinds: --full", word, operations->size() - shown));
    }
  }

  /// "messages on C1: 5 to 1, 3 from 0"; empty where they are not counted.
  std::string channel_text(const RankChanges& rank) const {
    if (!rank.channels)
      return {};
    std::string text;
    std::string on;
    std::size_t written = 0;
    for (const ChannelChange& channel : *rank.channels) {
      if (!context_.options.full && ++written > most_groups)
        return text + ", ...";
      if (std::exchange(on, channel.communicator) != channel.communicator || text.empty())
        text += fmt::format("{}messages on {}: ", text.empty() ? "" : "; ",
                            printable(channel.communicator));
      else
        text += ", ";
      std::string ways;
      if (channel.sent.value_or(0) != 0)
        ways = fmt::format("{} to {}", *channel.sent, channel.peer);
      if (channel.arrived.value_or(0) != 0)
        ways +=
            fmt::format("{}{} from {}", ways.empty() ? "" : ", ", *channel.arrived, channel.peer);
      text += ways;
    }
    return text;
  }

  /// `start` is `column` wide; the text goes on below its own start.
  void write_line(std::string start, std::size_t column, const std::string& text) const {
    constexpr std::size_t least = 20;
    const auto width = context_.options.width;
    for (const std::string& line :
         wrap_words(printable(text), std::max(least, width - std::min(width, column)))) {
      context_.line(start + line);
      start.assign(column, ' ');
    }
  }

  const TextContext& context_;
  const Changes& changes_;
  bool several_jobs_ = false;
  std::vector<ChangeGroup> groups_;
  std::map<std::tuple<RankChange, std::string, std::string>, std::size_t> index_; ///< by job, words
};

} // namespace

void write_changes(const TextContext& context) {
  ChangesWriter(context, *context.dump.analysis->changes).write();
}

} // namespace mqbridge
