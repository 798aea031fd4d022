#pragma once

#include "host/memory/memory_map.h"
#include "host/memory/platform.h"
#include "host/process/environment.h"
#include "rsp/client/client.h"
#include "rsp/commands/background_file.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mqbridge {

/// /proc/PID/maps and /proc/PID/environ of a process that stands still, read beside what else is
/// asked of its stub (rsp/commands/background_file.h). Neither is needed: they help, where the stub
/// has vFile and may read them. Not over a serial line, where they would take seconds.
class ProcessFiles {
public:
  /// Asks for both to be opened. `pid` 0: not known, there are none. `client` outlives this.
  ProcessFiles(rsp::Client& client, std::int64_t pid);

  /// About so many objects are loaded: so long will the list of mappings be.
  void expect_objects(std::size_t count);
  /// Takes what has come and asks for what follows, with the next exchange.
  void advance();
  /// Before the process is left: a server that stays would keep the files open.
  void give_up();

  /// What is mapped, as far as it is known by now; nullopt: nothing that was not told before.
  std::optional<MemoryMap> take_new_map(const Platform& platform);

  /// What a launcher wrote into the environment. Asks for it by itself if it has not come by now;
  /// empty where it cannot be read. Errors: those of Client::burst.
  Result<LaunchEnvironment> environment();

private:
  rsp::Client& client_;
  std::int64_t pid_;
  std::optional<rsp::BackgroundFile> maps_;
  std::optional<rsp::BackgroundFile> environ_;
  std::size_t told_ = 0; ///< bytes of maps_ that were made into a map
  bool told_all_ = false;
};

} // namespace mqbridge
