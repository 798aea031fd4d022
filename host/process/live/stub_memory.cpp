#include "host/process/live/stub_memory.h"

#include "rsp/commands/memory.h"
#include "rsp/commands/process_life.h"

#include <algorithm>
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
  if (!done)
    return done;
  const auto could_read = std::ranges::find_if(
      requests, [](const rsp::ReadRequest& request) { return request.read > 0; });
  if (could_read != requests.end())
    client_.life().could_read(could_read->address);
  const bool any_hole = std::ranges::any_of(requests, &rsp::ReadRequest::at_hole);
  return any_hole ? rsp::expect_alive(client_) : Result<void>();
}

} // namespace mqbridge
