#pragma once

#include "host/memory/memory.h"
#include "host/memory/page_store.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace mqbridge {

/// Memory to be captured, in multiples of PageStore::line_size.
struct CaptureExtent {
  std::uint64_t first = 0;
  std::uint64_t end = 0; ///< behind the last byte
  bool mapped = false;   ///< known to be mapped as a whole; else a hole in it costs only its page
};

/// Memory of a process, read once and kept in a page store of its own, which may outlive the
/// process's stop. One thread at a time.
class CapturedPages {
public:
  /// Room for that many bytes. Error: memory.store.
  static Result<CapturedPages> create(std::size_t max_bytes);

  /// Reads the parts of these extents that are not known yet, in one call. Parts without room stay
  /// unknown. Errors: those of Memory.
  Result<void> read(Memory& memory, std::span<const CaptureExtent> extents);

  /// The end of the bytes that are there from `first` on; at most `end`.
  std::uint64_t readable_to(std::uint64_t first, std::uint64_t end) const;
  bool copy(std::uint64_t address, std::span<std::byte> into) const;
  const std::shared_ptr<PageStore>& store() const { return store_; }

private:
  struct Wanted {
    std::uint64_t lines = 0;
    bool mapped = true;
  };
  /// Lines that follow each other, in memory as in the store.
  struct Piece {
    std::uint64_t first;
    std::span<std::byte> into;
    bool mapped;
  };
  using WantedPages = std::map<std::uint64_t, Wanted>;

  explicit CapturedPages(std::shared_ptr<PageStore> store) : store_(std::move(store)) {}
  WantedPages missing(std::span<const CaptureExtent> extents) const;
  void prepare(WantedPages& pages);
  std::vector<Piece> pieces_of(const WantedPages& pages) const;
  void publish(const Piece& piece, std::size_t read);

  std::shared_ptr<PageStore> store_;
};

} // namespace mqbridge
