#include "host/report/peer_text.h"

#include "host/dump/values/ranges.h"

#include <fmt/format.h>
#include <vector>

namespace mqbridge {

std::string peer_text(const Peer& peer) {
  if (peer.any)
    return "ANY";
  if (peer.local_rank == proc_null)
    return "NULL";
  if (!peer.global_rank)
    return peer.local_rank ? fmt::format("?({})", *peer.local_rank) : "?";
  if (!peer.local_rank || peer.local_rank == peer.global_rank)
    return fmt::format("{}", *peer.global_rank);
  return fmt::format("{}({})", *peer.global_rank, *peer.local_rank);
}

void PeerSet::add(const Peer& peer) {
  if (peer.any)
    any_ = true;
  else
    peers_.emplace(peer.local_rank, peer.global_rank);
}

std::string PeerSet::text() const {
  if (any_)
    return "any";
  std::vector<std::int64_t> globals;
  std::vector<std::int64_t> locals;          // of these
  std::vector<std::int64_t> without_globals; // local ranks
  bool unknown = false;
  for (const auto& [local, global] : peers_) {
    if (global) {
      globals.push_back(*global);
      locals.push_back(local.value_or(*global));
    } else {
      unknown = true;
      if (local)
        without_globals.push_back(*local);
    }
  }
  std::string text;
  if (!globals.empty())
    text = range_text(globals);
  if (locals != globals)
    text += fmt::format("({})", range_text(locals));
  if (unknown)
    text += text.empty() ? "?" : ",?";
  if (!without_globals.empty())
    text += fmt::format("({})", range_text(without_globals));
  return text;
}

} // namespace mqbridge
