#pragma once

#include "host/memory/memory_map.h"
#include "host/memory/platform.h"
#include "host/stacks/captured_pages.h"
#include "rsp/exchange/link_estimate.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// Bytes of a stack that are captured at the most: of a thread that is in the MPI, and of others.
inline constexpr std::uint64_t most_of_stack_in_mpi = std::uint64_t{256} << 10;
inline constexpr std::uint64_t most_of_other_stack = std::uint64_t{32} << 10;
/// What a thread gets at first where not all can have more; and where a word into the MPI library
/// shows that it is in it.
inline constexpr std::uint64_t first_of_stack = std::uint64_t{4} << 10;

/// From the stack pointer, less what may be used below it, to the end of the mapping that has it.
/// Where that end is not known, as many bytes as a thread in the MPI gets, which may be unmapped.
/// nullopt: nothing is mapped there. `thread_pointer`: where the C library describes the thread
/// (0: not known). If that is at the end of the mapping, no call stands behind it.
std::optional<CaptureExtent> stack_extent(std::uint64_t stack_pointer, std::uint64_t thread_pointer,
                                          const MemoryMap& map, const Platform& platform);

/// Bytes that the link brings in that time; of a source whose speed is not known, a few MiB.
std::uint64_t capture_budget(const rsp::LinkEstimate& link, std::chrono::duration<double> time);

/// One thread's part of the budget, so far.
struct StackShare {
  std::uint64_t room = 0; ///< bytes of its extent
  bool is_main = false;
  bool in_mpi = false;
  std::uint64_t bytes = 0; ///< out: from the extent's start on
};

/// Before anything is known of the threads: all that others get, if there is enough for all of
/// them; else a little of each, the main thread first, which gets more.
void share_at_first(std::span<StackShare> shares, std::uint64_t budget);
/// The rest of the budget: threads in the MPI first, then the main thread, then others. True: there
/// is not enough for all.
bool share_rest(std::span<StackShare> shares, std::uint64_t budget);

} // namespace mqbridge
