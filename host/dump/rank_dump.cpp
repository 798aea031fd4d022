#include "host/dump/rank_dump.h"

#include "host/dump/rank_session.h"

#include <utility>

namespace mqbridge {

RankOutcome dump_rank(const TargetSpec& target, const SharedTools& tools,
                      std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer,
                      std::stop_token stop) {
  RankSession session(target, tools, stub, observer);
  if (session.reach(std::move(stop)) && session.open())
    session.look();
  return session.close();
}

} // namespace mqbridge
