#pragma once

#include "host/memory/address.h"
#include "host/process/address_space.h"
#include "host/stacks/python/python_layout.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// A frame as its thread has it.
struct RawFrame {
  std::uint64_t code = 0;        ///< address of the code object
  std::uint64_t instruction = 0; ///< as PythonLayout::instruction has it
};

/// Like PythonCall.
struct RawCall {
  std::vector<RawFrame> frames = {};
  std::optional<TargetAddress> on_stack = {};
};

struct RawThread {
  std::vector<RawCall> calls = {};
  std::optional<std::uint64_t> thread_id = {}; ///< PythonLayout::thread_id
};

struct RawThreads {
  std::vector<RawThread> threads; ///< whose frames were read to the outermost one
  std::size_t lost = 0;           ///< other threads: damaged, or too deep
};

/// Follows the frames of all threads. `interpreter`: the address of the first one. `frame_type`:
/// the type of the frames where they are objects. Of all threads one frame is read at a time, as
/// many as a fraction of a second allows, and some in any case. Errors: those of Memory.
Result<RawThreads> read_raw_frames(const AddressSpace& space, const PythonLayout& layout,
                                   std::uint64_t interpreter,
                                   std::optional<TargetAddress> frame_type);

} // namespace mqbridge
