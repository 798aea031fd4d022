#pragma once

#include "host/confined/child.h"
#include "host/confined/confine.h"
#include "host/confined/refused_call.h"
#include "rsp/result.h"
#include "rsp/unique_fd.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// A running program of ours that confines itself (confine.h, filter.h), because it works on
/// foreign data. It is exec'ed, never forked. It has its own process group, an empty environment,
/// and no descriptors except a SOCK_SEQPACKET socket, memory shared with its owner, /dev/null, and
/// a pipe for its output. argv[1] is its parent's pid. It is killed and reaped with its owner, and
/// killed with this program. One thread at a time.
class ConfinedProcess {
public:
  /// Gets pieces of its output as they come; an empty piece: there is no more.
  using OutputSink = std::function<void(std::string_view piece)>;

  /// `shared_bytes` of shared memory, zeros. Error: worker.start.
  static Result<ConfinedProcess> start(const std::filesystem::path& binary,
                                       std::size_t shared_bytes);
  ConfinedProcess(ConfinedProcess&& other) noexcept;
  ConfinedProcess& operator=(ConfinedProcess&&) = delete;
  ~ConfinedProcess();

  /// Whether its end of the socket is open.
  bool alive() const;

  int socket() const { return socket_.get(); }
  int output() const { return output_.get(); }          ///< -1 once the pipe has ended
  const void* shared_memory() const { return shared_; } ///< mapped read-only here

  /// Takes its output so far; never blocks, bounded.
  void drain_output(const OutputSink& sink);

  /// Gives it a moment to end by itself, then kills its process group.
  WaitStatus end(const OutputSink& sink, int patience_ms);

private:
  ConfinedProcess() = default;

  WaitStatus reap();

  pid_t pid_ = -1; ///< -1: reaped
  rsp::UniqueFd socket_;
  rsp::UniqueFd output_;
  void* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
};

/// Our program `name`, in the directory of the program that runs.
std::filesystem::path beside_this_program(std::string_view name);

/// "system call 41 (socket) is not allowed in the sandbox", for a process that SIGSYS ended.
std::string refusal(const RefusedCall& word);

/// A child said that it cannot confine itself, and `why` (Filter::apply()). Code:
/// sandbox.unavailable; the hint is --no-sandbox.
Error unavailable(std::string_view program, std::string_view why);

} // namespace mqbridge::sandbox
