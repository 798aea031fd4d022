#pragma once

#include "rsp/unique_fd.h"

#include <optional>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// As waitpid() gives it. nullopt: nobody can say any more. The system reaped the process itself,
/// as SIGCHLD is ignored (mqbridge sees to it that it is not), or somebody else did.
using WaitStatus = std::optional<int>;

/// Kills a child, and with `group` the process group that it leads, and waits for its end. A child
/// that has been reaped elsewhere is let be: its number may be another process's by now.
WaitStatus kill_and_reap(pid_t child, bool group);

/// A child that was started by another child (start_twin()). Killed and reaped with its owner.
class Child {
public:
  explicit Child(pid_t pid);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  /// Readable once it has ended. -1: the kernel has no such thing (before Linux 5.3).
  int descriptor() const { return process_.get(); }

  /// Never blocks.
  bool has_ended() const;

  /// Kills it, if it still runs, and reaps it: only the first time there is a status.
  WaitStatus end();

private:
  pid_t pid_; ///< -1: reaped
  rsp::UniqueFd process_;
};

} // namespace mqbridge::sandbox
