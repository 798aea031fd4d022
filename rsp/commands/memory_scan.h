#pragma once

#include "rsp/commands/memory.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge::rsp {

/// The search for the first unreadable byte of one ReadRequest; decides what to ask for next.
///
/// Reads forward in pieces as large as the stub takes. When one fails, the stub has said only that
/// something in it cannot be read, and not even that if binary escapes made the reply too long:
/// shorter pieces follow, until a single byte fails by itself. No I/O.
class MemoryScan {
public:
  /// `request` outlives the scan; its `read` is kept up to date. `longest`: bytes that the stub may
  /// be asked for at once.
  MemoryScan(ReadRequest& request, std::size_t longest);

  bool done() const { return at_hole_ || rest() == 0; }
  /// Bytes not read yet.
  std::size_t rest() const { return size_ - request_->read; }
  /// While narrowing a failed piece down, the answer decides what is asked next: one piece at a
  /// time.
  bool narrowing() const { return suspect_ > 0; }

  std::uint64_t address() const { return request_->address + request_->read; }
  /// How many bytes to ask for `ahead` bytes beyond address().
  std::size_t next_piece(std::size_t ahead) const;
  /// Where the bytes from address() on go.
  std::span<std::byte> room(std::size_t length) const {
    return request_->into.subspan(request_->read, length);
  }

  /// The piece at address() brought `got` of the `asked` bytes, already in room().
  void succeeded(std::size_t asked, std::size_t got);
  /// The piece at address() was refused.
  void failed(std::size_t asked);

private:
  void suspect(std::size_t length);
  std::size_t narrowed() const;

  ReadRequest* request_;
  std::size_t size_; ///< what of the request lies below the top of the address space
  std::size_t longest_;
  std::size_t suspect_ = 0;      ///< bytes from address() on that were not readable in one piece
  bool first_byte_read_ = false; ///< of the suspect page
  bool at_hole_ = false;
};

} // namespace mqbridge::rsp
