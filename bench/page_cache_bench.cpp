// What a fetch of the debug DLL costs when its page is there already, and when it is not (the page
// then comes from memory, not from a stub).

#include "host/memory/page_cache.h"

#include <array>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstring>

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

} // namespace
