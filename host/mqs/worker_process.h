#pragma once

#include "host/mqs/message_log.h"
#include "host/mqs/shared_state.h"
#include "rsp/result.h"
#include "rsp/transport/unique_fd.h"

#include <filesystem>
#include <sys/types.h>

namespace mqbridge {

/// A running mqbridge-worker: its own process group, an empty environment, no descriptors but a
/// socket, the shared page, /dev/null and a pipe for what the DLL prints. Killed and reaped with
/// its owner. One thread, which must be the one that started it (PR_SET_PDEATHSIG is about
/// threads). Until it gets its work (WalkRequest::started) it is asleep, and may be so for as long
/// as its owner likes.
class WorkerProcess {
public:
  /// Error: worker.start.
  static Result<WorkerProcess> start(const std::filesystem::path& binary);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  /// It still waits for its work, or is at it.
  bool alive() const;

  int socket() const { return socket_.get(); }
  int output() const { return output_.get(); } ///< -1 once the pipe has ended
  const wire::SharedState& shared() const { return *shared_; }

  /// Takes what the DLL has printed so far; never blocks.
  void drain_output(MessageLog& log);

  /// Gives the worker a moment to end by itself, then kills its process group. Its wait status.
  int end(MessageLog& log, int patience_ms);

private:
  WorkerProcess() = default;

  int reap();

  pid_t pid_ = -1; ///< -1: reaped
  rsp::UniqueFd socket_;
  rsp::UniqueFd output_;
  wire::SharedState* shared_ = nullptr;
};

} // namespace mqbridge
