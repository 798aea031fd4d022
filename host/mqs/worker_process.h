#pragma once

#include "host/confined/confined_process.h"
#include "host/mqs/message_log.h"
#include "host/mqs/shared_state.h"
#include "rsp/result.h"

#include <filesystem>
#include <utility>

namespace mqbridge {

/// A running mqbridge-worker. Killed and reaped with its owner. One thread at a time. It sleeps
/// until it gets its work (WalkRequest::started), for as long as its owner likes.
class WorkerProcess {
public:
  /// Error: worker.start.
  static Result<WorkerProcess> start(const std::filesystem::path& binary);

  /// It waits for its work, or works.
  bool alive() const { return process_.alive(); }

  int socket() const { return process_.socket(); }
  int output() const { return process_.output(); } ///< -1 once the pipe has ended
  const wire::SharedState& shared() const {
    return *static_cast<const wire::SharedState*>(process_.shared_memory());
  }

  /// Takes what the DLL has printed so far; never blocks.
  void drain_output(MessageLog& log);

  /// Patience for the DLL's destructors, after everything has been read.
  static constexpr int farewell_ms = 500;
  /// Gives the worker a moment to end by itself, then kills its process group.
  sandbox::WaitStatus end(MessageLog& log, int patience_ms);

private:
  explicit WorkerProcess(sandbox::ConfinedProcess process) : process_(std::move(process)) {}

  sandbox::ConfinedProcess process_;
};

} // namespace mqbridge
