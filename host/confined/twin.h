#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// What a twin runs. It ends with _exit().
using TwinWork = int (*)(void* of);

/// Starts a process that shares this one's memory, and nothing else: its system call filters, its
/// descriptors and its signal handlers, copies at first, are its own from then on. What it loads
/// into the memory stays when it has ended; what it does to itself does not reach this process.
/// Example: it loads a library whose constructors may open files, into a process that may not.
///
/// It is a child of this process's parent, in this one's process group. The two have one set of
/// thread-local variables (errno, malloc()'s): while one of them works the other waits, or makes
/// system calls that do not fail. Its pid; or -1, and errno.
pid_t start_twin(TwinWork work, void* of);

/// What one twin waits for and the other one opens, once. Never yields the processor, which on a
/// busy machine may take milliseconds (std::atomic::wait does).
class Gate {
public:
  void open();
  void wait();

private:
  std::atomic<std::uint32_t> open_ = 0;
};

} // namespace mqbridge::sandbox
