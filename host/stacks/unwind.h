#pragma once

#include "host/files/file_finder.h"
#include "host/memory/address.h"
#include "host/memory/platform.h"
#include "host/process/call_sites.h"
#include "host/process/image_set.h"
#include "host/stacks/capture.h"
#include "host/stacks/frame_names.h"
#include "host/stacks/stack.h"
#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

struct UnwindOptions {
  std::filesystem::path program;              ///< mqbridge-unwinder
  bool sandboxed = true;                      ///< false (--no-sandbox): without system call filters
  std::size_t max_frames = 1024;              ///< of one thread
  std::chrono::milliseconds patience{10'000}; ///< for all stacks of one process, and for all names
  FilePaths paths = {};                       ///< where parts of their DWARF may be
  FrameNames* names = nullptr;                ///< of other processes, too; not owned. Null: of none
  std::vector<SharedSite> sites = {}; ///< are named, too: `function`, `file` and `line` are set
};

struct UnwoundThread {
  ThreadStack stack; ///< `helper` is not set yet
  /// By frame of `stack`: its stack pointer. A frame's own bytes begin there and end at the stack
  /// pointer of its caller. nullopt: not known.
  std::vector<std::optional<TargetAddress>> stack_pointers;
};

/// Unwinds what was captured, with symbols and DWARF of `images`' files: a confined process of its
/// own does it, with libdwfl. Nothing of the target is asked. One answer for each captured thread,
/// in order. What ended it early becomes a warning (stacks.crashed, stacks.timeout,
/// stacks.protocol), and threads that it did not come to have no frames and end `limit`. An
/// architecture that libdw cannot unwind is a warning, too (stacks.platform): then a thread has its
/// innermost frame alone. Errors: worker.start, sandbox.unavailable, and those of work_over().
Result<std::vector<UnwoundThread>> unwind(const CapturedStacks& captured,
                                          std::span<const Image> images, const Platform& platform,
                                          const UnwindOptions& options, Warnings& warnings);

} // namespace mqbridge
