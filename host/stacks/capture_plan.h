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

/// The most bytes of a stack that are captured: of a thread in the MPI, and of others.
inline constexpr std::uint64_t most_of_stack_in_mpi = std::uint64_t{256} << 10;
inline constexpr std::uint64_t most_of_other_stack = std::uint64_t{32} << 10;
/// The first share of a thread, if there is not enough for all; it shows whether a word into the
/// MPI library is on the stack.
inline constexpr std::uint64_t first_of_stack = std::uint64_t{4} << 10;

/// The part of a stack to capture: from the stack pointer, less the bytes below it that may be in
/// use, to the end of its mapping. If that end is not known, as many bytes as a thread in the MPI
/// gets; some may be unmapped. nullopt: nothing is mapped there. `thread_pointer`: where the C
/// library describes the thread (0: not known). If that is at the end of the mapping, no call
/// stands behind it.
std::optional<CaptureExtent> stack_extent(std::uint64_t stack_pointer, std::uint64_t thread_pointer,
                                          const MemoryMap& map, const Platform& platform);

/// Bytes that the link brings in that time. If the speed of the source is not known, 64 MiB.
std::uint64_t capture_budget(const rsp::LinkEstimate& link, std::chrono::duration<double> time);

/// One thread's part of the budget, so far.
struct StackShare {
  std::uint64_t room = 0; ///< bytes of its extent
  bool is_main = false;
  bool in_mpi = false;
  std::uint64_t bytes = 0; ///< out: from the extent's start on
};

/// The first shares, before anything is known about the threads. If there is enough for all of
/// them, each gets as much as a thread outside of the MPI. Else each gets a little, and the main
/// thread, which comes first, gets more.
void share_at_first(std::span<StackShare> shares, std::uint64_t budget);
/// The rest of the budget: threads in the MPI first, then the main thread, then others. True: there
/// is not enough for all.
bool share_rest(std::span<StackShare> shares, std::uint64_t budget);

} // namespace mqbridge
