#include "host/stacks/capture_plan.h"

#include "host/memory/architecture.h"
#include "host/memory/page_store.h"
#include "host/memory/prefetch_budget.h"

#include <algorithm>

namespace mqbridge {
namespace {

/// Bytes that the C library keeps about a thread above its first call.
constexpr std::uint64_t most_of_description = std::uint64_t{16} << 10;
/// A thread that has run over the end of its stack stands a little below its mapping.
constexpr std::uint64_t overrun = std::uint64_t{64} << 10;
/// The budget for memory whose speed is not known, such as that of a core file.
constexpr std::uint64_t budget_of_unknown = std::uint64_t{64} << 20;
/// No more than this is captured of one process, however fast the link is.
constexpr std::uint64_t most_budget = std::uint64_t{64} << 20;
/// A smaller budget tells nothing about any thread. The speed of a link that is not slow may be
/// underestimated as long as little has been read.
constexpr std::uint64_t least_budget_when_slow = first_of_stack;
constexpr std::uint64_t least_budget = std::uint64_t{256} << 10;

/// The mapping that has the stack pointer, or the one that begins a little above it; nullptr: none.
const MappedRange* range_at(const MemoryMap& map, std::uint64_t stack_pointer) {
  for (const auto& range : map.ranges)
    if (range.readable && range.last.value >= stack_pointer)
      return range.first.value <= stack_pointer || range.first.value - stack_pointer <= overrun
                 ? &range
                 : nullptr;
  return nullptr;
}

std::uint64_t page_end(std::uint64_t address) {
  return (address / PageStore::page_size + 1) * PageStore::page_size;
}

/// The mapping of the first stack, if its end is near: the system has put its own data on top of
/// the stack, and the mapping goes on to there.
const MappedRange* top_of_stack(const MemoryMap& map, std::uint64_t stack_pointer) {
  for (const auto& range : map.ranges)
    if (range.name == "[stack]" && range.last.value >= stack_pointer &&
        range.last.value - stack_pointer < most_of_stack_in_mpi)
      return &range;
  return nullptr;
}

std::uint64_t most_of(const StackShare& share) {
  return std::min(share.room, share.in_mpi ? most_of_stack_in_mpi : most_of_other_stack);
}

/// Takes bytes from the budget in whole lines, as memory is kept.
std::uint64_t take(std::uint64_t& budget, std::uint64_t bytes) {
  const auto taken = std::min(bytes, budget / PageStore::line_size * PageStore::line_size);
  budget -= taken;
  return taken;
}

/// Raises a share to `bytes`; false: the budget has not so much.
bool raise(StackShare& share, std::uint64_t bytes, std::uint64_t& budget) {
  if (bytes <= share.bytes)
    return true;
  share.bytes += take(budget, bytes - share.bytes);
  return share.bytes == bytes;
}

} // namespace

std::optional<CaptureExtent> stack_extent(std::uint64_t stack_pointer, std::uint64_t thread_pointer,
                                          const MemoryMap& map, const Platform& platform) {
  // With 32 bits the stack lies at the very end of the addresses. With 64 bits nothing does: sums
  // do not wrap around.
  constexpr auto highest = ~std::uint64_t{0} - 2 * most_of_stack_in_mpi;
  if (stack_pointer == 0 || stack_pointer > std::min(platform.last_address(), highest))
    return std::nullopt;
  const auto below = stack_pointer - std::min(stack_pointer, architecture_of(platform).red_zone);
  CaptureExtent extent{below / PageStore::line_size * PageStore::line_size, 0, true};
  const MappedRange* range = range_at(map, stack_pointer);
  if (!map.complete && (range == nullptr || range->first.value > stack_pointer))
    range = top_of_stack(map, stack_pointer);
  else if (range != nullptr)
    extent.first = std::max(extent.first, range->first.value);
  if (range != nullptr) {
    extent.end = page_end(range->last.value);
    if (thread_pointer > stack_pointer && thread_pointer < extent.end &&
        extent.end - thread_pointer <= most_of_description)
      extent.end = (thread_pointer / PageStore::line_size + 1) * PageStore::line_size;
    return extent;
  }
  if (map.complete)
    return std::nullopt;
  // Nobody knows whether the page below is mapped.
  extent.first =
      std::max(extent.first, stack_pointer / PageStore::page_size * PageStore::page_size);
  extent.end = page_end(std::min(stack_pointer + most_of_stack_in_mpi, platform.last_address()));
  extent.mapped = false;
  return extent;
}

std::uint64_t capture_budget(const rsp::LinkEstimate& link, std::chrono::duration<double> time) {
  if (link.bytes_per_second <= 0)
    return budget_of_unknown;
  const auto bytes = link.bytes_per_second * std::max(time.count(), 0.0);
  const auto least = is_slow(link) ? least_budget_when_slow : least_budget;
  return std::clamp(static_cast<std::uint64_t>(std::min(bytes, 1e18)), least, most_budget);
}

void share_at_first(std::span<StackShare> shares, std::uint64_t budget) {
  std::uint64_t wanted = 0;
  for (const auto& share : shares)
    wanted += most_of(share);
  const bool enough = wanted <= budget;
  auto half = budget / 2; // the other half is for threads that turn out to be in the MPI
  auto& rest = enough ? budget : half;
  for (const bool main_first : {true, false})
    for (auto& share : shares)
      if (share.is_main == main_first)
        raise(share, enough ? most_of(share) : std::min(share.room, first_of_stack), rest);
}

bool share_rest(std::span<StackShare> shares, std::uint64_t budget) {
  for (const auto& share : shares)
    budget -= std::min(budget, share.bytes);
  bool short_of = false;
  const auto raise_all = [&](auto belongs) {
    for (auto& share : shares)
      if (belongs(share) && !raise(share, most_of(share), budget))
        short_of = true;
  };
  raise_all([](const StackShare& share) { return share.in_mpi && share.is_main; });
  raise_all([](const StackShare& share) { return share.in_mpi && !share.is_main; });
  raise_all([](const StackShare& share) { return !share.in_mpi && share.is_main; });
  raise_all([](const StackShare& share) { return !share.in_mpi && !share.is_main; });
  return short_of;
}

} // namespace mqbridge
