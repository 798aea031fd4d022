#include "host/dump/rank_dump.h"

#include "host/dump/rank_session.h"

#include <utility>

namespace mqbridge {

RankOutcome dump_rank(const TargetSpec& target, const SharedTools& tools,
                      std::shared_ptr<rsp::Server>& server,
                      const std::function<void(std::string_view, std::uint64_t)>& progress,
                      std::stop_token stop) {
  RankSession session(target, tools, server, progress);
  if (session.open(std::move(stop)))
    session.look();
  return session.close();
}

} // namespace mqbridge
