#pragma once

#include "host/dump/ranges.h"
#include "host/mqs/rank_list.h"

#include <map>
#include <vector>

namespace mqbridge {

/// Makes equal groups one, which documents hold as runs. One thread at a time.
class RankListPool {
public:
  /// The list that `runs` stand for; nullptr: it is not here yet.
  const RankList* find(const std::vector<Run>& runs) const {
    const auto found = lists_.find(runs);
    return found == lists_.end() ? nullptr : &found->second;
  }
  const RankList& add(std::vector<Run> runs, RankList list) {
    return lists_.emplace(std::move(runs), std::move(list)).first->second;
  }

private:
  std::map<std::vector<Run>, RankList> lists_;
};

} // namespace mqbridge
