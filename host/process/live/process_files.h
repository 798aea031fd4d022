#pragma once

#include "host/memory/memory_map.h"
#include "host/memory/platform.h"
#include "rsp/client/client.h"
#include "rsp/commands/background_file.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge {

/// /proc/PID/maps and /proc/PID/environ of a process that stands still, read beside other questions
/// to its stub (rsp/commands/background_file.h). Neither is required: they help if the stub has
/// vFile and may read them. Not used over a serial line, where they would take seconds.
class ProcessFiles {
public:
  /// Asks the stub to open both. `pid` 0: not known, so there are none. `client` outlives this.
  ProcessFiles(rsp::Client& client, std::int64_t pid);

  /// About so many objects are loaded: this gives the expected length of the list of mappings.
  void expect_objects(std::size_t count);
  /// Takes the answers that have come, and asks for the next pieces with the next exchange.
  void advance();
  /// To be called before the process is left: a stub that goes on would keep the files open.
  void give_up();

  /// The mappings, as far as they are known by now; nullopt: nothing new since the last call.
  std::optional<MemoryMap> take_new_map(const Platform& platform);

  /// The environment, without a variable that is cut. Asks for it by itself if it has not come by
  /// now; empty where it cannot be read. Errors: those of Client::burst.
  Result<std::string> environment();

private:
  rsp::Client& client_;
  std::int64_t pid_;
  std::optional<rsp::BackgroundFile> maps_;
  std::optional<rsp::BackgroundFile> environ_;
  std::size_t told_ = 0; ///< bytes of maps_ that were made into a map
  bool told_all_ = false;
};

} // namespace mqbridge
