#pragma once

#include "rsp/commands/short_pieces.h"

#include <cstddef>
#include <cstdint>

namespace mqbridge::rsp {

/// The search for the first unreadable byte of one range; decides what to ask for next.
///
/// Reads forward in pieces as large as the stub takes. A refusal says only that some byte of the
/// piece cannot be read; a doubtful refusal not even that. So smaller pieces follow, until the
/// failing one is no longer than the grain. While narrowing() no refusal may be doubtful: the same
/// piece would be asked for without end. No I/O.
class MemoryScan {
public:
  /// `longest`: bytes that the stub may be asked for at once. `grain`: as in ReadOptions.
  MemoryScan(std::uint64_t address, std::size_t size, std::size_t longest, std::size_t grain);

  bool done() const { return at_hole_ || rest() == 0; }
  /// Bytes read from the start on.
  std::size_t read() const { return read_; }
  /// Bytes not read yet.
  std::size_t rest() const { return size_ - read_; }
  /// While narrowing a failed piece down, the answer decides what is asked next: one piece at a
  /// time.
  bool narrowing() const { return suspect_ > 0; }

  std::uint64_t address() const { return address_ + read_; }
  /// How many bytes to ask for `ahead` bytes beyond address().
  std::size_t next_piece(std::size_t ahead) const;

  /// The piece at address() brought `got` of the `asked` bytes.
  void succeeded(std::size_t asked, std::size_t got);
  /// The piece at address() was refused. `doubtful`: perhaps not for a hole.
  void failed(std::size_t asked, bool doubtful);

private:
  void suspect(std::size_t length);
  std::size_t narrowed() const;

  std::uint64_t address_;
  std::size_t size_; ///< bytes of the range below the top of the address space
  std::size_t longest_;
  std::size_t grain_;
  std::size_t read_ = 0;
  std::size_t suspect_ = 0;      ///< bytes from address() on that were not readable in one piece
  bool first_byte_read_ = false; ///< the first byte of the suspect page was read
  ShortPieces short_pieces_;
  bool at_hole_ = false;
};

} // namespace mqbridge::rsp
