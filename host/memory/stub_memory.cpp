#include "host/memory/stub_memory.h"

#include "rsp/commands/memory.h"

#include <vector>

namespace mqbridge {

Result<void> StubMemory::ask(std::span<MemoryRange> ranges, rsp::ReadWatcher* watcher) {
  std::vector<rsp::ReadRequest> requests;
  requests.reserve(ranges.size());
  for (const auto& range : ranges)
    requests.push_back({range.address.value, range.into});
  auto done = rsp::read_memory(client_, requests, {.watcher = watcher});
  for (std::size_t i = 0; i < ranges.size(); ++i)
    ranges[i].read = requests[i].read;
  return done;
}

} // namespace mqbridge
