#pragma once

#include "host/dump/document.h"
#include "host/dump/job_view.h"
#include "host/dump/shared_tools.h"
#include "host/dump/take_dump.h"
#include "rsp/features.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

namespace mqbridge::rsp {
class Server;
}

namespace mqbridge {

/// When a target was held, for the spread of stops over the job.
struct HeldTime {
  std::chrono::steady_clock::time_point from;
  std::chrono::steady_clock::time_point to;
};

struct RankOutcome {
  RankDump dump;
  RankClaim claim;
  std::optional<HeldTime> held;        ///< nullopt: never attached
  rsp::Features features;              ///< of the stub, once connected
  std::size_t loaded_objects = 0;      ///< in the link map
  std::optional<std::string> dll_path; ///< chosen, whether or not it came to be loaded
};

/// Dumps one target, from connect to detach. Never fails: what went wrong
/// stands in the outcome. On return the target is released. One thread; `progress` is called on it.
/// `server` is the connection that the targets behind one `gdbserver --multi` share, null before
/// the first of them; they are dumped one after the other.
RankOutcome
dump_rank(const TargetSpec& target, const SharedTools& tools, std::shared_ptr<rsp::Server>& server,
          const std::function<void(std::string_view phase, std::uint64_t operations)>& progress,
          std::stop_token stop);

} // namespace mqbridge
