#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/commands/execute.h"
#include "host/cli/commands/monitor_words.h"
#include "host/cli/terminal/session.h"
#include "host/disk/output_file.h"
#include "host/dump/workshop.h"
#include "rsp/server/bell.h"
#include "rsp/server/door.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

/// Does `work`, whose result is the exit status, and prints why it could not be done.
int with_workshop(const ProxyCommand& command, const Installation& installation,
                  const std::function<Result<int>(Workshop&, Session&)>& work);

/// The process that a debugger is for.
struct DebuggedProcess {
  TargetSpec target;
  std::vector<TargetSpec> job; ///< that one, too, and the other ranks that were found with it
  std::optional<int> size;     ///< of the job, if all of its ranks were found
};

/// Errors: those of choose_targets() and require_targets(); usage (not exactly one process),
/// target.no_process.
Result<DebuggedProcess> choose_debugged(const ProxyCommand& command, Workshop& workshop,
                                        const std::stop_token& stop);

/// "rank 3", or the process as the user wrote it.
std::string name_of(const TargetSpec& target);

/// What stands between a process and its debuggers, which come in at `door`.
class DebuggerService {
public:
  /// `process` is no core. `tell` is called with what the user should know, a line without its end.
  /// All arguments outlive this. Errors: output.write, targets.unwritable (the files for `monitor
  /// mpi`).
  static Result<DebuggerService> open(const DebuggedProcess& process, const ProxyCommand& command,
                                      const SharedTools& tools, rsp::Door& door, rsp::Bell& bell,
                                      std::function<void(const std::string&)> tell);

  /// Waits for a debugger, and serves it until nothing is held any more. Errors: interrupted (no
  /// debugger has come before `stop`), those of open_transport, Bridge and Door.
  Result<void> serve(const std::stop_token& stop);

private:
  DebuggerService(const DebuggedProcess& process, const ProxyCommand& command,
                  const SharedTools& tools, rsp::Door& door, rsp::Bell& bell,
                  std::function<void(const std::string&)> tell, TemporaryDirectory directory)
      : process_(process), command_(command), tools_(tools), door_(door), bell_(bell),
        tell_(std::move(tell)), directory_(std::move(directory)) {}
  Result<void> write_targets();

  const DebuggedProcess& process_;
  const ProxyCommand& command_;
  const SharedTools& tools_;
  rsp::Door& door_;
  rsp::Bell& bell_;
  std::function<void(const std::string&)> tell_;
  TemporaryDirectory directory_;
  MonitorScene scene_;
};

} // namespace mqbridge
