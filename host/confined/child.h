#pragma once

#include "rsp/unique_fd.h"

#include <optional>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// The status as waitpid() gives it. nullopt: nobody can tell any more. Either the system reaped
/// the process itself, since SIGCHLD is ignored (mqbridge sees to it that it is not), or somebody
/// else did.
using WaitStatus = std::optional<int>;

/// Kills a child, and with `group` the process group that it leads, and waits for its end. Does
/// nothing to a child that was reaped elsewhere: its number may belong to another process by now.
WaitStatus kill_and_reap(pid_t child, bool group);

/// A child that was started by another child (start_twin()). Killed and reaped with its owner.
class Child {
public:
  explicit Child(pid_t pid);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  /// Becomes readable when the child has ended. -1: the kernel has no pidfds (before Linux 5.3).
  int descriptor() const { return process_.get(); }

  /// Never blocks.
  bool has_ended() const;

  /// Kills the child if it still runs, and reaps it. Only the first call returns a status.
  WaitStatus end();

private:
  pid_t pid_; ///< -1: reaped
  rsp::UniqueFd process_;
};

} // namespace mqbridge::sandbox
