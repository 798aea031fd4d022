#pragma once

#include "host/memory/page_runs.h"
#include "host/memory/page_table.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace mqbridge {

/// The pages of one target's memory. They are in an anonymous file that the worker of the debug DLL
/// maps as well, read-only, so that reading a page here costs it no system call
/// (host/memory/page_table.h has the layout). Bounded in bytes. Valid for one stop: call clear()
/// when the target may have run.
///
/// A page consists of 64 lines of 64 bytes. For each line the store has its bytes, or knows that it
/// cannot be read (a hole), or knows nothing yet. A slow link reads lines, others whole pages.
///
/// Uses memory only for the pages that it has (or for the most that it had before the last
/// clear()). Only address space is taken for all pages that it could have.
///
/// One thread at a time. The worker looks on while pages are published. It has to wait, for the
/// answer to its miss, during clear(), and while bytes are written that it may see.
class PageStore {
public:
  static constexpr std::size_t page_size = page_table::page_size;
  static constexpr std::size_t line_size = page_table::line_size;
  static constexpr std::uint64_t all_lines = ~std::uint64_t{0};
  static constexpr std::size_t default_max_bytes = std::size_t{1} << 30;
  static constexpr std::size_t most_bytes = page_table::max_slots * page_size;

  /// `max_bytes` of pages, at least one page and at most `most_bytes`, less where the limit on file
  /// sizes is lower. Error: memory.store (no descriptors, no address space, no file so large).
  static Result<std::unique_ptr<PageStore>> create(std::size_t max_bytes = default_max_bytes);
  ~PageStore();
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;

  struct Page {
    const std::byte* bytes = nullptr; ///< page_size of them; lines not `readable` hold junk
    std::uint64_t readable = 0;       ///< a bit for each line, the first one lowest
    std::uint64_t settled = 0;        ///< lines that are readable or known to be a hole
  };
  /// By page number. nullopt: nothing is known about it.
  std::optional<Page> find(std::uint64_t number) const;

  /// The place for the bytes of `count` pages from `first` on, one behind the other; nobody sees
  /// them before publish(). The store must not know any of these pages. Empty: it knows one, or has
  /// no room (call `clear()`, or ask for less).
  std::span<std::byte> prepare(std::uint64_t first, std::size_t count);
  /// The last `count` pages of the latest prepare() are not needed after all: their room is free
  /// again. But the store remembers their numbers until clear(), and counts as full when there are
  /// too many of these. None of them may be published.
  void give_back(std::size_t count);
  /// The bytes of a page that was prepared, or that is in the store with unsettled lines; else
  /// nullptr.
  std::byte* bytes_of(std::uint64_t number);
  /// Publishes lines of a prepared page. `readable` is part of `settled`.
  void publish(std::uint64_t number, std::uint64_t readable, std::uint64_t settled);

  /// Forgets all pages, except which ones were touched. The memory is kept for the next pages: the
  /// seal that keeps the worker from writing also keeps the system from taking pages back, and new
  /// ones would cost more.
  void clear();

  /// Copies all of `into`, and marks its pages as touched; false: not all of it is in the store.
  bool copy(std::uint64_t address, std::span<std::byte> into);

  /// For statistics and for the next dump's replay: the pages that somebody looked at since the
  /// store was made, by mark_touched() and the worker's own record. Pages that were only prefetched
  /// do not count. Pages that are not in the store are not marked.
  void mark_touched(std::uint64_t number);
  PageRuns touched() const;
  std::size_t touched_pages() const; ///< the number of touched pages that are in the store

  /// From now on pages that the worker's record marks, by slot, count as touched too, until nullptr
  /// is set; the record must exist until then. Not owned. It is not trusted: slots that hold no
  /// page are ignored.
  void set_worker_record(const page_table::TouchRecord* record);

  /// Whoever fills the store calls let_look() while more pages are on their way, so that the
  /// onlooker can use the pages that have come. The onlooker reads no memory, and returns whether
  /// it still wants more than it has asked for. Null: there is none, and let_look() is false.
  void set_onlooker(std::function<bool()> onlooker);
  bool let_look() const;

  std::size_t pages() const;      ///< in the store, or prepared
  std::size_t room() const;       ///< pages that prepare() can still take
  int descriptor() const;         ///< for the worker: can be mapped read-only, nothing else
  std::size_t file_bytes() const; ///< address space that mapping the file takes

private:
  struct Impl;
  explicit PageStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge
