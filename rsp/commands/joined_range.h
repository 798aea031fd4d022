#pragma once

#include "rsp/commands/memory_scan.h"
#include "rsp/commands/read_memory.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mqbridge::rsp {

class ReadWatcher;

/// A position in the bytes of a JoinedRange: a request, and an offset in it.
struct RangePlace {
  std::size_t request = 0;
  std::size_t offset = 0;
};

/// Requests that touch in memory, read as one range. When a part of it cannot be read, the requests
/// are read one by one from there on: each has a count of its own.
class JoinedRange {
public:
  /// `requests` touch (address after address), none is empty; they outlive this. The first
  /// `skipped` bytes are read already.
  JoinedRange(std::span<ReadRequest> requests, std::size_t skipped, std::size_t longest_piece,
              std::size_t grain);

  const MemoryScan& scan() const { return scan_; }
  MemoryScan& scan() { return scan_; }

  /// Bytes of the next piece of this burst; 0: none. Nothing is asked behind a piece that failed,
  /// and pieces are asked one at a time while narrowing.
  std::size_t next_piece() const;
  std::uint64_t next_address() const { return scan_.address() + ahead(); }
  /// Where the bytes of next_address() go.
  const RangePlace& next_place() const { return place_; }
  /// The next `length` bytes, at next_address(), are asked for. Returns where they go.
  RangePlace asked(std::size_t length);
  /// A piece did not bring all of its bytes.
  void fell_short() { short_ = true; }
  /// A new burst begins: pieces that were asked for and not settled are asked for again.
  void begin_burst();

  /// The next bytes from `place` on that lie in one request, at most `length`; moves `place` behind
  /// them.
  std::span<std::byte> room(RangePlace& place, std::size_t length) const;

  /// The number of this range's request `index` among all requests of the call. `first`: the first
  /// request of the call.
  std::size_t number_of(std::size_t index, const ReadRequest* first) const {
    return static_cast<std::size_t>(&requests_[index] - first);
  }
  /// Tells the requests, and the watcher, how many more of their bytes have been read.
  void tell(const ReadRequest* first, ReadWatcher& watcher);

  /// Tells the requests how many of their bytes were read. Requests with more to read go to
  /// `unfinished`.
  void settle(std::vector<JoinedRange>& unfinished);

private:
  std::size_t ahead() const { return asked_to_ - scan_.read(); }
  RangePlace place_of(std::size_t position) const;
  std::size_t position_of_read() const { return skipped_ + scan_.read(); }

  std::span<ReadRequest> requests_;
  std::size_t skipped_;
  std::size_t longest_piece_;
  std::size_t grain_;
  MemoryScan scan_;
  std::size_t asked_to_ = 0; ///< bytes from where the scan began
  RangePlace place_;         ///< the position of asked_to_
  /// The first request that was not told of all its bytes, and the number of bytes of the range
  /// before it.
  RangePlace told_;
  bool short_ = false;
};

/// Joins those of `requests` that follow each other and touch; empty ones are left out.
std::vector<JoinedRange> join(std::span<ReadRequest> requests, std::size_t longest_piece,
                              std::size_t grain);

} // namespace mqbridge::rsp
