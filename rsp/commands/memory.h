#pragma once

#include "rsp/client.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge::rsp {

/// `read` is the number of bytes filled from the start of `into`; the first unreadable byte ends
/// it.
struct ReadRequest {
  std::uint64_t address = 0;
  std::span<std::byte> into;
  std::size_t read = 0;
};

/// Reads all ranges with `m` or `x`, split to the stub's packet size, pipelined with a bounded
/// number of outstanding reply bytes. Unmapped memory is a short count; gdbserver's all-or-nothing
/// `m` is retried in halves at page borders. An Error means the connection is lost, or a deadline
/// passed.
Result<void> read_memory(Client& client, std::span<ReadRequest> requests);

} // namespace mqbridge::rsp
