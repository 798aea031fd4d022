#pragma once

#include "host/memory/address.h"
#include "host/memory/page_store.h"
#include "host/process/process_thread.h"
#include "host/process/stopped_process.h"
#include "host/stacks/python/python_stack.h"
#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mqbridge {

/// One thread as it stood: its registers, and how much of its stack was captured.
struct CapturedThread {
  ProcessThread thread;
  std::uint64_t stack_pointer = 0; ///< 0: not known; nothing was captured
  TargetAddress captured_to; ///< the end of the captured bytes that begin at the stack pointer
  bool cut = false;          ///< the stack goes on behind it
  std::optional<int> system_call = {}; ///< the number of the call that it is in; nullopt: none
};

/// Everything that the unwinder needs of a process: the process itself runs on by then.
struct CapturedStacks {
  std::vector<CapturedThread> threads; ///< in the order of the source
  std::shared_ptr<PageStore> pages;    ///< of stacks, and of the vDSO; null: nothing was captured
  std::optional<TargetAddress> vdso = {}; ///< its ELF header, where it was captured
  std::uint64_t vdso_size = 0;            ///< bytes
  Warnings warnings;                      ///< about parts that were left out
  std::vector<PythonThread> python = {};  ///< capture_python()
};

struct CaptureOptions {
  /// A thread is taken to be in the MPI if a word on its stack points into this library.
  const Image* mpi_library = nullptr;
  /// Reading stacks may keep the link busy for so long, beside its round trips.
  std::chrono::milliseconds patience{100};
  /// At most half of the time up to this moment is spent.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

/// Most threads whose registers are read.
inline constexpr std::size_t most_captured_threads = 256;

/// Reads registers and stacks of all threads of a process that stands still, within a budget that
/// depends on its link. For up to 64 threads it takes two round trips, or three if threads are deep
/// in the MPI; one more if the list of threads was not asked for beside other reads
/// (ProcessOptions::threads). To be called after load_images(), and after all other reads: some
/// stubs die over a request for registers, or fall silent.
/// Parts that are left out become a warning: stacks.cut, stacks.threads, stacks.no_registers,
/// stacks.unreadable. Errors: threads.unsupported, stub.garbage, and those of Memory.
Result<CapturedStacks> capture_stacks(StoppedProcess& process, const CaptureOptions& options);

} // namespace mqbridge
