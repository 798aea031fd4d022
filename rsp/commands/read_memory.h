#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/read_watcher.h"

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
  bool at_hole = false; ///< out: the byte behind `read` was asked for, and could not be read
};

struct ReadOptions {
  /// The search for a hole ends at aligned blocks of `grain` bytes: `read` may end up to `grain` -
  /// 1 bytes too early. A power of two, at most 4096. A caller that wants whole pages sets 4096,
  /// and saves an exchange at each hole.
  std::size_t grain = 1;
  ReadWatcher* watcher = nullptr; ///< not owned; null: nobody looks on
};

/// Reads all ranges with the best request that the stub has (`x`, `MultiMemRead`, `vFile:pread` of
/// /proc/PID/mem, `m`). Touching ranges are joined, requests are split to the stub's packet size,
/// and pipelined with a bounded number of outstanding reply bytes. Unmapped memory is a short
/// count; gdbserver's all-or-nothing `m` is retried in halves at page borders. An Error means that
/// the connection is lost, that a deadline has passed, or that the stub's answer is no memory.
///
/// No reply is ever taken for that of another request. Where they do not pair (a reply was lost on
/// the way, or came twice), the bytes are dropped and read again, one piece at a time. Bytes of
/// `into` beyond `read` may be overwritten, too.
Result<void> read_memory(Client& client, std::span<ReadRequest> requests,
                         const ReadOptions& options = {});

} // namespace mqbridge::rsp
