#pragma once

#include "host/bridge/bridge.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What is known where `monitor mpi ...` is answered.
struct MonitorScene {
  std::filesystem::path program;       ///< mqbridge itself
  std::string process;                 ///< for people: "rank 3", "local:4711"
  std::filesystem::path own_targets;   ///< a targets file of the process, by the bridge's door
  std::filesystem::path all_targets;   ///< and of its whole job
  std::vector<std::string> look_words; ///< the user's options, which most commands take
};

/// The answer to the words behind `monitor mpi`: a command of mqbridge, help, or what is wrong with
/// them. A debugger cannot have files written, or other processes looked at, by them.
MonitorAnswer monitor_answer(std::string_view line, const MonitorScene& scene);

} // namespace mqbridge
