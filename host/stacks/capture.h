#pragma once

#include "host/memory/address.h"
#include "host/memory/page_store.h"
#include "host/process/process_thread.h"
#include "host/process/stopped_process.h"
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
  TargetAddress captured_to;       ///< behind the last byte from the stack pointer on that is there
  bool cut = false;                ///< the stack goes on behind it
  std::optional<int> system_call = {}; ///< number, on its architecture, of the call that it is in
};

/// What the unwinder needs of a process that runs on by then.
struct CapturedStacks {
  std::vector<CapturedThread> threads; ///< in the order of the source
  std::shared_ptr<PageStore> pages;    ///< of stacks, and of the vDSO; null: nothing was captured
  std::optional<TargetAddress> vdso = {}; ///< its ELF header, where it was captured
  std::uint64_t vdso_size = 0;            ///< bytes
  Warnings warnings;                      ///< what was left out, to be said
};

struct CaptureOptions {
  const Image* mpi_library = nullptr; ///< threads that have a word into it on their stack are in it
  /// For so long the link may bring bytes of stacks, beside its round trips.
  std::chrono::milliseconds patience{100};
  /// Half of the time up to there is spent at the most.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

/// Threads whose registers are read.
inline constexpr std::size_t most_captured_threads = 256;

/// Reads registers and stacks of all threads of a process that stands still, within a budget that
/// its link sets. For up to 64 threads it takes two round trips, three where threads are deep in
/// the MPI; one less where ProcessOptions::threads had them asked beside other reads, which slow
/// links leave out. After load_images(). What is left out becomes a warning: stacks.cut,
/// stacks.threads, stacks.no_registers, stacks.unreadable. Errors: threads.unsupported,
/// stub.garbage, and those of Memory.
Result<CapturedStacks> capture_stacks(StoppedProcess& process, const CaptureOptions& options);

} // namespace mqbridge
