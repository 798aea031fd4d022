// What a fetch of the debug DLL costs when its page is there already, and when it is not (the page
// then comes from memory, not from a stub).

#include "host/memory/page_cache.h"
#include "host/memory/pointer_scan.h"

#include <array>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using namespace mqbridge;

/// Every word of the address space holds its own address.
class AddressMemory final : public Memory {
public:
  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    for (auto& range : ranges) {
      for (std::size_t at = 0; at + 8 <= range.into.size(); at += 8) {
        const auto value = range.address.value + at;
        std::memcpy(range.into.data() + at, &value, 8);
      }
      range.read = range.into.size();
    }
    return {};
  }
};

/// Walks `pages` pages in steps of 130 bytes, as an operation of Open MPI does; false: a wrong
/// answer.
bool walk(PageCache& cache, std::uint64_t pages) {
  std::uint64_t value = 0;
  for (std::uint64_t at = 0; at < pages * PageStore::page_size; at += 136) {
    const auto got = cache.read({at}, std::as_writable_bytes(std::span(&value, 1)));
    if (!got || *got != 8 || value != at)
      return false;
  }
  return true;
}

void cached_fetches(benchmark::State& state) {
  AddressMemory below;
  const auto store = PageStore::create().value();
  PageCache cache(below, *store, {CacheMode::page});
  const auto pages = static_cast<std::uint64_t>(state.range(0));
  if (!walk(cache, pages))
    return state.SkipWithError("the cache gives back something else");
  for (auto _ : state)
    benchmark::DoNotOptimize(walk(cache, pages));
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(pages * PageStore::page_size / 136));
}
BENCHMARK(cached_fetches)->Arg(16)->Arg(4096);

void first_fetches(benchmark::State& state) {
  AddressMemory below;
  const auto store = PageStore::create().value();
  PageCache cache(below, *store, {CacheMode::page});
  const auto pages = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    cache.clear();
    if (!walk(cache, pages))
      return state.SkipWithError("the cache gives back something else");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pages));
}
BENCHMARK(first_fetches)->Arg(256);

/// The same with prefetch, on a link where all of the mapping pays: what the policy, and the look
/// through pages for pointers, add to each page.
void first_fetches_read_ahead(benchmark::State& state) {
  AddressMemory below;
  const auto store = PageStore::create().value();
  PageCache cache(below, *store);
  const auto pages = static_cast<std::uint64_t>(state.range(0));
  const MemoryMap map{{{{0}, {pages * PageStore::page_size - 1}, true, true}}, true};
  cache.set_map(&map);
  cache.set_platform({});
  cache.set_link([] { return rsp::LinkEstimate{1e-3, 100e6, 0}; });
  for (auto _ : state) {
    cache.clear();
    if (!walk(cache, pages))
      return state.SkipWithError("the cache gives back something else");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pages));
}
BENCHMARK(first_fetches_read_ahead)->Arg(256)->Arg(16384);

/// A page where every second word is a pointer, as pages of lists are: 64 and 32 bits, little and
/// big-endian.
void scan_a_page(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto order = state.range(1) != 0 ? ByteOrder::big : ByteOrder::little;
  constexpr std::uint64_t base = 0x20000000;
  std::vector<std::byte> page(PageStore::page_size);
  for (std::size_t at = 0; at < page.size(); at += 2 * size)
    for (std::size_t i = 0; i < size; ++i)
      page[at + (order == ByteOrder::big ? size - 1 - i : i)] =
          static_cast<std::byte>((base + at) >> (8 * i));
  const PointerShape shape{order, size, size, {base}, {base + page.size()}};
  std::vector<std::uint64_t> found(most_pointers(page.size(), shape));
  if (scan_pointers(page, shape, found) != page.size() / size / 2)
    return state.SkipWithError("pointers were missed");
  for (auto _ : state)
    benchmark::DoNotOptimize(scan_pointers(page, shape, found));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(page.size()));
}
BENCHMARK(scan_a_page)->ArgsProduct({{8, 4}, {0, 1}});

} // namespace
