#pragma once

#include "host/memory/memory.h"
#include "rsp/client.h"

namespace mqbridge {

/// The bottom layer: asks the stub, with all ranges of one call pipelined (rsp/commands/memory.h).
/// Does not own the client.
class StubMemory final : public Memory {
public:
  explicit StubMemory(rsp::Client& client) : client_(client) {}
  Result<void> read_ranges(std::span<MemoryRange> ranges) override;

private:
  rsp::Client& client_;
};

} // namespace mqbridge
