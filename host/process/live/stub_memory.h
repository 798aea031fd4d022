#pragma once

#include "host/memory/memory.h"
#include "rsp/client/client.h"

namespace mqbridge {

/// The bottom layer: asks the stub, with all ranges of one call pipelined
/// (rsp/commands/read_memory.h). Memory that could not be read counts as unmapped only if the
/// process is still there; otherwise it is an Error, target.died (rsp/commands/life_check.h). Does
/// not own the client.
class StubMemory final : public Memory {
public:
  explicit StubMemory(rsp::Client& client) : client_(client) {}
  Result<void> read_ranges(std::span<MemoryRange> ranges) override { return ask(ranges, nullptr); }
  Result<void> read_watched(std::span<MemoryRange> ranges, rsp::ReadWatcher& watcher) override {
    return ask(ranges, &watcher);
  }

private:
  Result<void> ask(std::span<MemoryRange> ranges, rsp::ReadWatcher* watcher);

  rsp::Client& client_;
};

} // namespace mqbridge
