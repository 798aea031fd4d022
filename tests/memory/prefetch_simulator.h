#pragma once

#include "host/memory/memory.h"
#include "host/memory/memory_map.h"
#include "host/memory/page_runs.h"
#include "host/memory/platform.h"
#include "rsp/exchange/link_estimate.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// What a walk cost on a link.
struct SimulatedCost {
  double seconds = 0; ///< of round trips, requests and bytes; the host's own time is none of it
  std::uint64_t bursts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pages_touched = 0; ///< by the walk, whatever was read
  PageRuns touched = {};           ///< these, where the walk was through the page cache
};

/// A process's memory: mappings, of which only the pages that something was written to take room;
/// all others read as zeros.
class SimulatedProcess {
public:
  explicit SimulatedProcess(Platform platform = {}) : platform_(std::move(platform)) {}

  TargetAddress map(std::uint64_t first, std::uint64_t bytes, std::string name = {});
  void put(TargetAddress address, std::uint64_t pointer);

  const Platform& platform() const { return platform_; }
  const MemoryMap& mappings() const { return map_; }
  /// The bytes from `address` on, up to the end of the mapping; how many.
  std::size_t copy(TargetAddress address, std::span<std::byte> into) const;

private:
  Platform platform_;
  MemoryMap map_;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> pages_;
};

/// A process and a walk through it that knows whether it saw what is there.
struct SimulatedLayout {
  std::string name;
  SimulatedProcess process;
  std::function<bool(Memory&)> walk;
  PageRuns roots = {}; ///< pages that are known before the walk begins
};

/// The stub at the other end of a link: answers at once, and counts what time it would have taken.
class SimulatedStub final : public Memory {
public:
  SimulatedStub(const SimulatedProcess& process, const rsp::LinkEstimate& link)
      : process_(process), link_(link) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  const SimulatedCost& cost() const { return cost_; }

private:
  const SimulatedProcess& process_;
  rsp::LinkEstimate link_;
  SimulatedCost cost_;
};

/// Ways of reading that need no policy: what a walk could be done with instead.
enum class Pager {
  on_demand, ///< pages of 4 KiB, as they are missing
  granules,  ///< 256 KiB around what is missing
  pointers,  ///< what is missing, and up to 256 KiB of pages that words read so far point to
  mapping,   ///< all of the mapping that something is missing in
};
SimulatedCost simulate(const SimulatedLayout& layout, const rsp::LinkEstimate& link, Pager pager);

struct SimulationOptions {
  bool map_known = true;
  double estimate_error = 1; ///< what the policy believes of round trip and speed, times this
  PageRuns replay = {};      ///< pages that an earlier walk has touched
};
/// With the real page cache and its policy. The answer of the walk is checked.
SimulatedCost simulate(const SimulatedLayout& layout, const rsp::LinkEstimate& link,
                       const SimulationOptions& options = {});

} // namespace mqbridge
