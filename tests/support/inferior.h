#pragma once

#include "tests/support/child_process.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <sys/types.h>

namespace mqbridge::test {

/// A real process to attach to (inferior_loop.c).
class Inferior {
public:
  Inferior() : process_({inferior_program()}) {}
  pid_t pid() const { return process_.pid(); }

private:
  ChildProcess process_;
};

/// The letter of "State:" in /proc/PID/status; '\0' if there is no such process.
char process_state(pid_t pid);

/// In a signal stop or a ptrace stop.
bool is_stopped(pid_t pid);

/// Whether, within `limit`, the process is seen to run: not stopped, and it has slept and woken.
bool runs_within(pid_t pid, std::chrono::milliseconds limit);

} // namespace mqbridge::test
