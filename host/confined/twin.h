#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// The function that a twin runs. It ends with _exit().
using TwinWork = int (*)(void* of);

/// Starts a process that shares this one's memory, and nothing else: it has its own copies of the
/// system call filters, descriptors and signal handlers. Libraries that it loads stay in memory
/// when it has ended; changes to itself do not affect this process. Example: it loads a library
/// whose constructors may open files into a process that may not.
///
/// It is a child of this process's parent, in this one's process group. The two have one set of
/// thread-local variables (errno, malloc()'s): while one of them works the other waits, or makes
/// system calls that do not fail. Its pid; or -1, and errno.
pid_t start_twin(TwinWork work, void* of);

/// A gate that one twin opens once, and for which the other one waits. It never yields the
/// processor, which on a busy machine may take milliseconds (std::atomic::wait does).
class Gate {
public:
  void open();
  void wait();

private:
  std::atomic<std::uint32_t> open_ = 0;
};

} // namespace mqbridge::sandbox
