#include "host/report/inside_lines.h"

#include "host/document/names.h"
#include "host/dump/values/operation_counts.h"
#include "host/mqs/interpret.h"
#include "host/report/peer_text.h"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

std::string_view words_of(Collective collective) {
  switch (collective) {
  case Collective::nonblocking:
    return "a nonblocking collective";
  case Collective::neighbor:
    return "a neighborhood collective";
  case Collective::internal:
    return "an operation of the MPI's own";
  default:
    return name_of(collective);
  }
}

/// The program is inside it. In a nonblocking one it may be anywhere.
bool is_blocking(Collective collective) {
  return collective != Collective::none && collective != Collective::nonblocking &&
         collective != Collective::internal;
}

/// What one collective still needs.
struct Open {
  PeerSet receives;
  PeerSet sends;

  std::string text() const {
    std::string text;
    if (!receives.empty())
      text = "waits for " + receives.text();
    if (!sends.empty())
      text += (text.empty() ? "sends to " : ", sends to ") + sends.text();
    return text;
  }
};

/// Numbers of messages and the peers that have them, the largest number first.
using Traffic = std::map<std::int64_t, PeerSet, std::greater<>>;

/// "5 to 1, 3 to 2-7"
std::string traffic_text(const Traffic& traffic, std::string_view to_or_from) {
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [count, peers] : traffic) {
    if (++shown > most)
      return text + ", and fewer";
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", count, to_or_from, peers.text());
  }
  return text;
}

} // namespace

std::vector<InsideLine> inside_lines(const Communicator& communicator) {
  std::map<Collective, Open> found;
  for (const OpClass op_class : {OpClass::receive, OpClass::send})
    for (const Operation& operation : communicator.queue(op_class).operations) {
      if (is_own(operation))
        continue;
      Open& open = found[operation.collective];
      if (operation.status != OpStatus::complete)
        (op_class == OpClass::receive ? open.receives : open.sends).add(operation.peer);
    }
  std::vector<InsideLine> lines;
  lines.reserve(found.size());
  for (const auto& [collective, open] : found)
    lines.push_back({fmt::format("inside {}", words_of(collective)), open.text()});
  return lines;
}

std::string inside_words(const RankDump& rank) {
  std::set<Collective> found;
  for (const Communicator& communicator : rank.communicators)
    for (const OpClass op_class : {OpClass::receive, OpClass::send})
      for (const Operation& operation : communicator.queue(op_class).operations)
        found.insert(operation.collective);
  std::string text;
  for (const Collective collective : found)
    if (is_blocking(collective))
      text += fmt::format("{}{}", text.empty() ? "inside " : ", ", name_of(collective));
  return text;
}

std::vector<InsideLine> message_lines(const Communicator& communicator) {
  std::map<Collective, std::pair<std::uint64_t, PeerSet>> found;
  for (const Operation& operation : communicator.queue(OpClass::unexpected).operations)
    if (!is_own(operation)) {
      auto& [count, peers] = found[operation.collective];
      ++count;
      peers.add(operation.peer);
    }
  std::vector<InsideLine> lines;
  lines.reserve(found.size());
  for (const auto& [collective, messages] : found)
    lines.push_back({fmt::format("messages of {} arrived", words_of(collective)),
                     fmt::format("{} from {}", messages.first, messages.second.text())});
  return lines;
}

std::string counters_line(const Communicator& communicator) {
  if (!communicator.counters)
    return {};
  Traffic sent;
  Traffic arrived;
  for (const PeerCounters& counters : communicator.counters->peers) {
    const Peer peer{false, counters.peer, world_rank_of_peer(communicator, counters.peer)};
    if (counters.sent.value_or(0) != 0)
      sent[*counters.sent].add(peer);
    if (counters.arrived.value_or(0) != 0)
      arrived[*counters.arrived].add(peer);
  }
  std::string text;
  if (!sent.empty())
    text = "sent " + traffic_text(sent, "to");
  if (!arrived.empty())
    text += (text.empty() ? "arrived " : "; arrived ") + traffic_text(arrived, "from");
  return text.empty()
             ? text
             : fmt::format("messages (modulo {}): {}", communicator.counters->modulus, text);
}

} // namespace mqbridge
