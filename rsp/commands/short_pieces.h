#pragma once

#include "rsp/limits.h"

#include <cstddef>

namespace mqbridge::rsp {

/// Counts the pieces of one object, file or range of memory that are shorter than asked for. A stub
/// that gives a byte at a time would hold its target for hours. But some short pieces are normal:
/// the last one, and those of /proc. One thread at a time.
class ShortPieces {
public:
  /// A piece that was too short has come, and there are `total` bytes by now. False: too many.
  bool take(std::size_t total) {
    return ++count_ <= limits::short_pieces + total / limits::bytes_a_short_piece;
  }

private:
  std::size_t count_ = 0;
};

} // namespace mqbridge::rsp
