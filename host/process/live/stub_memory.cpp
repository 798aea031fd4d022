#include "host/process/live/stub_memory.h"

#include "rsp/client/quirks.h"
#include "rsp/commands/life_check.h"
#include "rsp/commands/read_memory.h"
#include "rsp/limits.h"

#include <algorithm>
#include <vector>

namespace mqbridge {
namespace {

/// Refused pieces of this size are holes.
std::size_t grain_of(rsp::StubKind kind) {
  return rsp::quirks_of(kind).holes_are_pages ? rsp::limits::page : 1;
}

} // namespace

Result<void> StubMemory::ask(std::span<MemoryRange> ranges, rsp::ReadWatcher* watcher) {
  std::vector<rsp::ReadRequest> requests;
  requests.reserve(ranges.size());
  for (const auto& range : ranges)
    requests.push_back({range.address.value, range.into});
  auto done = rsp::read_memory(client_, requests,
                               {.grain = grain_of(client_.features().kind), .watcher = watcher});
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
