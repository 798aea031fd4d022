#include "rsp/commands/memory_scan.h"

#include "rsp/limits.h"

#include <algorithm>
#include <limits>

namespace mqbridge::rsp {
namespace {

std::size_t to_page_end(std::uint64_t address) {
  return limits::page - static_cast<std::size_t>(address % limits::page);
}

std::size_t below_the_top(std::uint64_t address, std::size_t size) {
  if (size == 0)
    return 0;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max() - address;
  return static_cast<std::size_t>(std::min<std::uint64_t>(size - 1, last)) + 1;
}

} // namespace

MemoryScan::MemoryScan(std::uint64_t address, std::size_t size, std::size_t longest,
                       std::size_t grain)
    : address_(address), size_(below_the_top(address, size)), longest_(longest), grain_(grain) {}

std::size_t MemoryScan::next_piece(std::size_t ahead) const {
  const std::size_t left = rest() - ahead;
  if (narrowing())
    return std::min(narrowed(), left);
  // Pieces end at page borders, so that a failing one casts doubt on as few pages as possible.
  const std::uint64_t from = address() + ahead;
  const std::size_t aligned =
      longest_ >= limits::page
          ? longest_ / limits::page * limits::page - static_cast<std::size_t>(from % limits::page)
          : std::min(longest_, to_page_end(from));
  return std::min(aligned, left);
}

void MemoryScan::succeeded(std::size_t asked, std::size_t got) {
  read_ += got;
  first_byte_read_ = true;
  suspect_ -= std::min(suspect_, got);
  if (got < asked) {
    // lldb-server answers like that at a hole. The rest of the page in which the reply broke off
    // shows whether there is a hole.
    suspect(std::min(asked - got, to_page_end(address())));
    at_hole_ = at_hole_ || !short_pieces_.take(read_); // a stub that gives a byte at a time
  } else if (to_page_end(address()) == limits::page) {
    first_byte_read_ = false; // another page
  }
}

void MemoryScan::failed(std::size_t asked, bool doubtful) {
  // True if only bytes of one grain were asked for.
  const bool grain_refused = asked <= grain_ - address() % grain_;
  if (asked <= 1 || (grain_refused && !doubtful))
    at_hole_ = true;
  else
    suspect(asked);
}

void MemoryScan::suspect(std::size_t length) {
  if (suspect_ == 0)
    first_byte_read_ = false;
  suspect_ = length;
}

std::size_t MemoryScan::narrowed() const {
  const std::size_t first_page = to_page_end(address());
  if (suspect_ > first_page) {
    const std::size_t further_pages = (suspect_ - first_page + limits::page - 1) / limits::page;
    return first_page + further_pages / 2 * limits::page;
  }
  if (suspect_ <= grain_ - address() % grain_)
    return suspect_;
  // Nearly always a whole page can be read, or none of it: so the first byte is tried alone, and a
  // hole costs one more exchange instead of twelve.
  return first_byte_read_ ? std::max<std::size_t>(suspect_ / 2, 1) : 1;
}

} // namespace mqbridge::rsp
