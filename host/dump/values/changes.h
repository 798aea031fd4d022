#pragma once

#include "host/mqs/queues.h"
#include "host/stacks/stack.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

// What differs between two documents of one job, rank by rank. nullopt means not known.

enum class RankChange : std::uint8_t {
  same,          ///< nothing that both documents show has changed
  moved,         ///< something has
  appeared,      ///< in the later document alone
  gone,          ///< in the earlier one alone
  other_process, ///< another process has this rank
  unknown,       ///< one of the documents shows nothing of it
};

/// Operations of one queue that nothing but their addresses tells apart.
struct OperationKind {
  OpClass queue = OpClass::send;
  std::string communicator; ///< as the later document calls it: "C1"; else its name
  bool any_peer = false;
  std::optional<std::int64_t> peer; ///< in MPI_COMM_WORLD
  bool any_tag = false;
  std::optional<std::int64_t> tag;
  std::optional<std::int64_t> length;
  Collective collective = Collective::none;

  auto operator<=>(const OperationKind&) const = default;
};

struct OperationChange {
  OperationKind kind;
  std::uint64_t count = 0;
};

/// Messages on one channel since the earlier document, modulo what the MPI counts in.
struct ChannelChange {
  std::string communicator;
  std::int64_t peer = 0; ///< in the communicator
  std::optional<std::int64_t> sent;
  std::optional<std::int64_t> arrived;
};

struct RankChanges {
  int rank = 0;
  std::optional<std::string> job_id;
  RankChange change = RankChange::unknown;
  std::optional<std::vector<BlockedCall>> calls_before;
  std::optional<std::vector<BlockedCall>> calls_after;
  bool calls_moved = false; ///< both are known, and differ
  /// The channels on which messages moved; nullopt: the MPI does not count them in both documents.
  std::optional<std::vector<ChannelChange>> channels;
  std::vector<OperationChange> appeared;
  std::vector<OperationChange> gone;
  std::uint64_t stayed = 0;
  std::vector<OpClass> unsure; ///< queues that one of the documents does not have whole
};

struct Changes {
  std::string before; ///< taken_at
  std::string after;
  std::vector<RankChanges> ranks; ///< by job and rank
};

} // namespace mqbridge
