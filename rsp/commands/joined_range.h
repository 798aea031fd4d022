#pragma once

#include "rsp/commands/memory.h"
#include "rsp/commands/memory_scan.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mqbridge::rsp {

class ReadWatcher;

/// Where the bytes of a JoinedRange go on: a request of it, and how much of that is spoken for.
struct RangePlace {
  std::size_t request = 0;
  std::size_t offset = 0;
};

/// Requests that touch in memory, read as one range. When a part of it cannot be read, the requests
/// go on one by one: each has a count of its own.
class JoinedRange {
public:
  /// `requests` touch (address after address), none is empty; they outlive this. The first
  /// `skipped` bytes are read already.
  JoinedRange(std::span<ReadRequest> requests, std::size_t skipped, std::size_t longest_piece,
              std::size_t grain);

  const MemoryScan& scan() const { return scan_; }
  MemoryScan& scan() { return scan_; }

  /// The next piece of this burst, if there is one: nothing is asked behind one that failed, and
  /// one at a time while narrowing. Bytes; 0: none.
  std::size_t next_piece() const;
  std::uint64_t next_address() const { return scan_.address() + ahead(); }
  /// Where the bytes of next_address() go.
  const RangePlace& next_place() const { return place_; }
  /// `length` bytes at next_address() are asked for; where they go.
  RangePlace asked(std::size_t length);
  /// A piece of it did not bring all that was asked for.
  void fell_short() { short_ = true; }
  /// A new burst: what was asked for and not settled is asked for again.
  void begin_burst();

  /// As much of `length` bytes from `place` on as lies in one request; `place` moves on.
  std::span<std::byte> room(RangePlace& place, std::size_t length) const;

  /// The number of its request `index` in the call that all requests are from, of which `first` is
  /// the first one.
  std::size_t number_of(std::size_t index, const ReadRequest* first) const {
    return static_cast<std::size_t>(&requests_[index] - first);
  }
  /// Tells the requests, and the watcher, how much more of them was read.
  void tell(const ReadRequest* first, ReadWatcher& watcher);

  /// Tells the requests how much of them was read. What is still to be read goes to `unfinished`.
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
  std::size_t asked_to_ = 0; ///< from where the scan began
  RangePlace place_;         ///< of asked_to_
  RangePlace told_;          ///< the first request not told of all its bytes; how many are before
  bool short_ = false;
};

/// Joins those of `requests` that follow each other and touch; empty ones are left out.
std::vector<JoinedRange> join(std::span<ReadRequest> requests, std::size_t longest_piece,
                              std::size_t grain);

} // namespace mqbridge::rsp
