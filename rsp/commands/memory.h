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
  /// A hole is looked for until so many bytes that start at a multiple of it are known to be
  /// unreadable in one piece; `read` may then end that much too early. A power of two, at most
  /// 4096: whoever wants whole pages is spared an exchange at each hole.
  std::size_t grain = 1;
  ReadWatcher* watcher = nullptr; ///< not owned; null: nobody looks on
};

/// Reads all ranges with the best request that the stub has (`x`, `MultiMemRead`, `vFile:pread` of
/// /proc/PID/mem, `m`), split to its packet size, those that touch joined, and pipelined with a
/// bounded number of outstanding reply bytes. Unmapped memory is a short count; gdbserver's
/// all-or-nothing `m` is retried in halves at page borders. An Error means that the connection is
/// lost, a deadline has passed, or that what the stub says is no memory.
///
/// Replies are never taken for those of other requests: where they do not pair (something on the
/// way lost one, or brought it twice), what was read is dropped and read again, one piece at a
/// time.
/// `into` is written beyond `read`, too.
Result<void> read_memory(Client& client, std::span<ReadRequest> requests,
                         const ReadOptions& options = {});

} // namespace mqbridge::rsp
