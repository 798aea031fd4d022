#include "host/confined/child.h"

#include <cerrno>
#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::sandbox {
namespace {

/// Reads how the child ended, and leaves it to be reaped. False: it is no child of this process, or
/// no longer one.
bool look_at(pid_t child, siginfo_t& end) {
  end = {};
  return ::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) == 0;
}

} // namespace

WaitStatus kill_and_reap(pid_t child, bool group) {
  siginfo_t end;
  if (!look_at(child, end))
    return std::nullopt;
  // If it is dying already, it keeps its status: the signal comes too late to change it.
  ::kill(group ? -child : child, SIGKILL);
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(child, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  return reaped == child ? WaitStatus(status) : std::nullopt;
}

Child::Child(pid_t pid)
    : pid_(pid), process_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

bool Child::has_ended() const {
  siginfo_t end;
  return pid_ < 0 || !look_at(pid_, end) || end.si_pid != 0;
}

WaitStatus Child::end() {
  const pid_t pid = std::exchange(pid_, -1);
  return pid < 0 ? std::nullopt : kill_and_reap(pid, false);
}

} // namespace mqbridge::sandbox
