#pragma once

#include <iosfwd>
#include <string>

namespace mqbridge::e2e {

/// How a dump of a job on two nodes is ended before it is done, again and again.
struct EndedDumps {
  std::string launcher;   ///< ssh or srun
  int signal = 0;         ///< SIGINT: Ctrl-C, which the whole group of processes gets; or SIGKILL
  bool collected = false; ///< by --collect
};

void PrintTo(const EndedDumps& ended, std::ostream* stream);

/// "ssh_SIGKILL"
std::string name_of(const EndedDumps& ended);

/// For MQBRIDGE_SKIP_IF_LACKING. Besides, only root has nodes.
std::string lacking(const EndedDumps& ended);

/// Ends `times` dumps, each at a moment of its own, and expects after each of them that the job and
/// what started it run, and that nothing of the dump is left on any node; and that the job comes to
/// its end.
void expect_nothing_is_left(const EndedDumps& ended, int times);

} // namespace mqbridge::e2e
