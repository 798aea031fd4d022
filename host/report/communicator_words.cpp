#include "host/report/communicator_words.h"

#include "host/dump/values/operation_counts.h"
#include "host/dump/values/ranges.h"
#include "host/mpi/mpi_support.h"
#include "host/mqs/interpret.h"
#include "host/report/fitted_text.h"
#include "host/report/queue_words.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace mqbridge {
namespace {

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
    text += fmt::format("{}job {} ranks {}", text.empty() ? "" : ", ", printable(job_number(job)),
                        range_text(ranks, 8));
  }
  return text;
}

/// The other side of an intercommunicator.
std::string remote_text(const Group& remote) {
  if (!remote.members.empty())
    return member_text(remote.members);
  return remote.ranks ? "global ranks " + range_text(*remote.ranks, 8) : "another group";
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

/// The name that the MPI has given it. Of its duplicates only those of MPI_COMM_WORLD are told: the
/// context id of another communicator may be in use a second time.
std::string origin_of(const RankDump& rank, const Communicator& communicator) {
  const MpiSupport& mpi = support_named(rank.mpi ? rank.mpi->name : "");
  const auto words = mpi.facts().duplicate;
  if (!words.empty())
    for (const Communicator& world : rank.communicators)
      if (mpi.is_world(world) && world.context &&
          communicator.name.ends_with(fmt::format("{}{}", words, *world.context)))
        return fmt::format("a duplicate of {} {}", printable(world.key), display_name(world));
  return display_name(communicator);
}

} // namespace

std::vector<std::string> facts_of(const Communicator& communicator) {
  const std::string local =
      communicator.local_rank ? fmt::format("{}", *communicator.local_rank) : "?";
  std::vector<std::string> facts = {fmt::format("rank {} of {}", local, communicator.size)};
  if (communicator.internal)
    facts.emplace_back("internal");
  if (communicator.group && !is_identity(*communicator.group))
    facts.push_back("global ranks " + range_text(*communicator.group, 8));
  if (!communicator.members.empty())
    facts.push_back("of " + member_text(communicator.members));
  if (communicator.kind == CommunicatorKind::inter)
    facts.push_back("to " + remote_text(communicator.remote));
  return facts;
}

std::vector<std::string> names_of_mentioned(const Dump& dump, std::string_view text) {
  std::string words(text);
  std::ranges::replace_if(
      words, [](unsigned char sign) { return std::isalnum(sign) == 0; }, ' ');
  std::istringstream each(words);
  std::set<std::string> mentioned{std::istream_iterator<std::string>(each), {}};
  std::vector<std::string> names;
  for (const RankDump& rank : dump.ranks)
    for (const Communicator& communicator : rank.communicators)
      if (communicator.named_by_mpi && !communicator.name.empty() &&
          mentioned.erase(communicator.key) > 0)
        names.push_back(printable(communicator.key) + " " + origin_of(rank, communicator));
  return names;
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

std::string returned_line(const Dump& dump, const Communicator& communicator) {
  const auto& sends = communicator.queue(OpClass::send).operations;
  const auto count =
      static_cast<std::uint64_t>(std::count_if(sends.begin(), sends.end(), is_returned_send));
  if (count == 0)
    return {};
  const auto receivers = seen_receivers(dump, communicator);
  const auto not_received = static_cast<std::uint64_t>(
      std::count_if(sends.begin(), sends.end(), [&](const Operation& send) {
        return is_returned_send(send) && send.peer.global_rank &&
               receivers.contains(*send.peer.global_rank);
      }));
  const std::string_view messages = count == 1 ? "its message is" : "their messages are";
  return fmt::format("{} {} returned{}  (--full)", count, count == 1 ? "send has" : "sends have",
                     not_received == count
                         ? fmt::format(", and {} not received yet", messages)
                         : fmt::format("; nothing says that {} received", messages));
}

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

std::vector<std::string> queue_states(const RankDump& rank, const Queue& queue, OpClass op_class,
                                      bool say_empty) {
  std::vector<std::string> lines;
  const OperationCounts counts = count_operations(queue, op_class);
  const auto total = own_total(queue, counts);
  const bool ended = short_state(rank, queue).empty();
  if (ended && total && *total > counts.own())
    lines.push_back(fmt::format("{} of {} shown (filters)", counts.own(), *total));
  else if (ended && say_empty && counts.own() == 0)
    lines.emplace_back(nothing_listed(rank, op_class));
  if (!common_state(rank, op_class).empty())
    return lines;
  if (std::string state = long_state(rank, queue); !state.empty())
    lines.push_back(std::move(state));
  return lines;
}

void add_source(const RankDump& rank, OperationRow& row, bool& said) {
  if (row.source != OpSource::mqbridge || std::exchange(said, true))
    return;
  row.note.text += row.note.text.empty() ? "" : "  ";
  row.note.text += read_by_mqbridge(rank);
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
