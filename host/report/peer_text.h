#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace mqbridge {

/// Global rank, and the local one where it differs: "2(0)". "ANY", "NULL"; "?(0)", "?": not known.
std::string peer_text(const Peer& peer);

/// The peers of several operations, each once.
class PeerSet {
public:
  void add(const Peer& peer);
  bool empty() const { return !any_ && peers_.empty(); }
  /// By local rank, as ranges: "0-2,7"; "5,4(0,1)" where the global ranks are not the local ones;
  /// "any". The start of a long list.
  std::string text() const;

private:
  using Rank = std::optional<std::int64_t>;

  bool any_ = false;
  std::set<std::pair<Rank, Rank>> peers_; ///< local, global
};

} // namespace mqbridge
