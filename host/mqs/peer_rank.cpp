#include "host/mqs/peer_rank.h"

#include <utility>

namespace mqbridge {

std::optional<std::int64_t> world_rank_of_peer(const Communicator& communicator,
                                               const MaybeInt& local) {
  const RankList& ranks =
      communicator.kind == CommunicatorKind::inter ? communicator.remote.ranks : communicator.group;
  if (!local || !ranks || *local < 0 || std::cmp_greater_equal(*local, ranks->size()))
    return std::nullopt;
  return (*ranks)[static_cast<std::size_t>(*local)];
}

} // namespace mqbridge
