#include "tests/memory/prefetch_simulator.h"

#include "host/memory/page_cache.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <unordered_set>

namespace mqbridge {
namespace {

using page_table::page_size;
/// As many bytes as gdbserver 13.1 takes one `m` for.
constexpr std::uint64_t longest_request = 9215;

double requests_for(std::uint64_t bytes) {
  return static_cast<double>((bytes + longest_request - 1) / longest_request);
}

/// Serves from the process itself, and counts what a simple way of reading would have read.
class ReferencePager final : public Memory {
public:
  ReferencePager(const SimulatedProcess& process, const rsp::LinkEstimate& link, Pager pager)
      : process_(process), link_(link), pager_(pager) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    for (auto& range : ranges) {
      const auto last = (range.address.value + range.into.size() - 1) / page_size;
      for (auto page = range.address.value / page_size; page <= last; ++page) {
        touched_.insert(page);
        if (!read_.contains(page))
          burst(page);
      }
      range.read = process_.copy(range.address, range.into);
    }
    return {};
  }

  SimulatedCost cost() const {
    auto cost = cost_;
    cost.pages_touched = touched_.size();
    return cost;
  }

private:
  void burst(std::uint64_t page) {
    const auto* mapping = process_.mappings().find({page * page_size});
    if (mapping == nullptr)
      return;
    const auto first = mapping->first.value / page_size;
    const auto last = mapping->last.value / page_size;
    constexpr std::uint64_t granule = (std::uint64_t{256} << 10) / page_size;
    std::vector<std::uint64_t> wanted = {page};
    if (pager_ == Pager::granules || pager_ == Pager::mapping) {
      const auto base =
          pager_ == Pager::mapping ? first : std::max(first, page / granule * granule);
      const auto end = pager_ == Pager::mapping
                           ? last
                           : std::min(last, page / granule * granule + (granule - 1));
      for (auto at = base; at <= end; ++at)
        wanted.push_back(at);
    } else if (pager_ == Pager::pointers) {
      while (wanted.size() < granule && !pointed_.empty()) {
        wanted.push_back(pointed_.back());
        pointed_.pop_back();
      }
    }
    charge(runs_of(std::move(wanted)));
  }

  void charge(const PageRuns& runs) {
    double requests = 0;
    std::uint64_t bytes = 0;
    for (const auto& run : runs) {
      std::uint64_t fresh = 0;
      for (auto page = run.first; page < run.first + run.count; ++page) {
        if (!read_.insert(page).second)
          continue;
        ++fresh;
        if (pager_ == Pager::pointers)
          follow(page);
      }
      bytes += fresh * page_size;
      requests += requests_for(fresh * page_size);
    }
    ++cost_.bursts;
    cost_.bytes += bytes;
    cost_.seconds += link_.burst(static_cast<double>(bytes), requests);
  }

  void follow(std::uint64_t page) {
    std::vector<std::uint64_t> words(page_size / 8);
    process_.copy({page * page_size}, std::as_writable_bytes(std::span(words)));
    for (const auto word : words)
      if (process_.mappings().find({word}) != nullptr && !read_.contains(word / page_size))
        pointed_.push_back(word / page_size);
  }

  const SimulatedProcess& process_;
  rsp::LinkEstimate link_;
  Pager pager_;
  SimulatedCost cost_;
  std::unordered_set<std::uint64_t> read_;
  std::unordered_set<std::uint64_t> touched_;
  std::vector<std::uint64_t> pointed_;
};

} // namespace

TargetAddress SimulatedProcess::map(std::uint64_t first, std::uint64_t bytes, std::string name) {
  map_.complete = true;
  map_.ranges.push_back({{first}, {first + bytes - 1}, true, true, std::move(name)});
  std::ranges::sort(map_.ranges, {}, &MappedRange::first);
  return {first};
}

void SimulatedProcess::put(TargetAddress address, std::uint64_t pointer) {
  const auto size = static_cast<std::size_t>(platform_.pointer_size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = address.value + (platform_.byte_order == ByteOrder::big ? size - 1 - i : i);
    auto& page = pages_[at / page_size];
    page.resize(page_size);
    page[at % page_size] = static_cast<std::byte>(pointer >> (8 * i));
  }
}

std::size_t SimulatedProcess::copy(TargetAddress address, std::span<std::byte> into) const {
  const auto* mapping = map_.find(address);
  if (mapping == nullptr)
    return 0;
  const auto size = std::min<std::uint64_t>(into.size(), mapping->last - address + 1);
  for (std::uint64_t done = 0; done < size;) {
    const auto at = address.value + done;
    const auto part = std::min(size - done, page_size - at % page_size);
    const auto page = pages_.find(at / page_size);
    if (page == pages_.end())
      std::memset(into.data() + done, 0, part);
    else
      std::memcpy(into.data() + done, page->second.data() + at % page_size, part);
    done += part;
  }
  return static_cast<std::size_t>(size);
}

Result<void> SimulatedStub::read_ranges(std::span<MemoryRange> ranges) {
  double requests = 0;
  std::uint64_t bytes = 0;
  for (auto& range : ranges) {
    range.read = process_.copy(range.address, range.into);
    requests += requests_for(range.into.size());
    bytes += range.read;
  }
  ++cost_.bursts;
  cost_.bytes += bytes;
  cost_.seconds += link_.burst(static_cast<double>(bytes), requests);
  return {};
}

SimulatedCost simulate(const SimulatedLayout& layout, const rsp::LinkEstimate& link, Pager pager) {
  ReferencePager memory(layout.process, link, pager);
  EXPECT_TRUE(layout.walk(memory)) << layout.name;
  return memory.cost();
}

SimulatedCost simulate(const SimulatedLayout& layout, const rsp::LinkEstimate& link,
                       const SimulationOptions& options) {
  SimulatedStub stub(layout.process, link);
  const auto store = PageStore::create().value();
  PageCache cache(stub, *store);
  if (options.map_known)
    cache.set_map(&layout.process.mappings());
  cache.set_platform(layout.process.platform());
  cache.set_replay(options.replay);
  auto believed = link;
  believed.round_trip *= options.estimate_error;
  believed.bytes_per_second *= options.estimate_error;
  cache.set_link([&] { return believed; });
  EXPECT_TRUE(cache.preload(layout.roots));
  EXPECT_TRUE(layout.walk(cache)) << layout.name;
  auto cost = stub.cost();
  cost.pages_touched = store->touched_pages();
  cost.touched = store->touched();
  return cost;
}

} // namespace mqbridge
