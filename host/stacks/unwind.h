#pragma once

#include "host/files/file_finder.h"
#include "host/memory/address.h"
#include "host/memory/platform.h"
#include "host/process/call_sites.h"
#include "host/process/image_set.h"
#include "host/stacks/capture.h"
#include "host/stacks/frame_names.h"
#include "host/stacks/stack.h"
#include "host/stacks/unwinder_wire.h"
#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

struct UnwindOptions {
  std::filesystem::path program;              ///< mqbridge-unwinder
  bool sandboxed = true;                      ///< false (--no-sandbox): without system call filters
  std::size_t max_frames = 1024;              ///< of one thread
  std::chrono::milliseconds patience{10'000}; ///< for all stacks of one process, and for all names
  FilePaths paths = {};                       ///< where parts of the files' DWARF may be
  FrameNames* names = nullptr; ///< names that other processes have read; not owned. Null: none
  /// The functions whose arguments are wanted: of each thread those of the outermost one. Null: of
  /// none.
  bool (*has_arguments)(std::string_view function) = nullptr;
  std::vector<SharedSite> sites = {}; ///< to be named, too: sets `function`, `file` and `line`
};

struct UnwoundThread {
  ThreadStack stack; ///< `helper` is not set yet
  /// For each frame of `stack` its stack pointer. A frame's own bytes begin there, and end at the
  /// stack pointer of its caller. nullopt: not known.
  std::vector<std::optional<TargetAddress>> stack_pointers;
  /// A value that a frame's function keeps in a register over the call it is in, and that is not
  /// its caller's: the program's or the MPI's own, whoever has the frame.
  struct KeptValue {
    std::size_t frame = 0; ///< index in the frames of `stack`
    std::uint64_t value = 0;
  };
  std::vector<KeptValue> kept; ///< innermost frames first; of bounded size
  /// The call for UnwindOptions::has_arguments.
  struct Call : ArgumentsOfCall {
    std::size_t frame = 0; ///< index in the frames of `stack`
  };
  std::optional<Call> call = {};
};

/// Unwinds captured stacks, with symbols and DWARF of `images`' files, in a confined process of its
/// own with libdwfl. The target is not asked. One answer for each captured thread, in order. A
/// premature end becomes a warning (stacks.crashed, stacks.timeout, stacks.protocol); threads that
/// were not reached have no frames, and end with `limit`. An architecture that libdw cannot unwind
/// is a warning, too (stacks.platform): then each thread has its innermost frame alone, or none
/// where its registers are not known. Errors:
/// worker.start, sandbox.unavailable, and those of work_over().
Result<std::vector<UnwoundThread>> unwind(const CapturedStacks& captured,
                                          std::span<const Image> images, const Platform& platform,
                                          const UnwindOptions& options, Warnings& warnings);

} // namespace mqbridge
