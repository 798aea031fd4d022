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

/// The pages of one target's memory, once: in an anonymous file that the worker of the debug DLL
/// maps as well, read-only, so that what is here costs it no system call (host/memory/page_table.h
/// has the layout). Byte-bounded. Valid for one stop: clear() when the target may have run.
///
/// A page consists of 64 lines of 64 bytes. Of each line the store knows its bytes, or that it
/// cannot be read (a hole), or nothing yet; a slow link reads lines, others whole pages.
///
/// Takes memory for the pages that it has (and for the most that it had before the last clear()),
/// not for those that it could have; only address space is taken for all.
///
/// One thread at a time; the worker looks on while pages are published. It waits for the answer to
/// its miss while clear() is called, and while bytes are written to that it may see.
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
    const std::byte* bytes = nullptr; ///< page_size of them; those of lines not `readable` are junk
    std::uint64_t readable = 0;       ///< a bit for each line, the first one lowest
    std::uint64_t settled = 0;        ///< lines that are readable or known to be a hole
  };
  /// By page number. nullopt: nothing is known of it.
  std::optional<Page> find(std::uint64_t number) const;

  /// Where the bytes of `count` pages from `first` on are to be put, one behind the other; they are
  /// not seen before publish(). Nothing may be known of any of them. Empty: something is, or there
  /// is no room (`clear()`, or ask for less).
  std::span<std::byte> prepare(std::uint64_t first, std::size_t count);
  /// The last `count` pages of those prepared last are left out after all: their room is free
  /// again, but the store remembers their numbers until clear(), and counts as full when they are
  /// too many. None of them was published.
  void give_back(std::size_t count);
  /// Of a page that was prepared, or is in the store with lines still unsettled; else nullptr.
  std::byte* bytes_of(std::uint64_t number);
  /// Adds to what is known of a prepared page. `readable` is part of `settled`.
  void publish(std::uint64_t number, std::uint64_t readable, std::uint64_t settled);

  /// Nothing is known any more, except what was touched. The memory is kept for what is read next:
  /// the seal that keeps the worker from writing keeps the system from taking pages back, and new
  /// ones would cost more than the old ones.
  void clear();

  /// All of `into`, of which the pages count as touched from then on; false: not all of it is here.
  bool copy(std::uint64_t address, std::span<std::byte> into);

  /// For statistics and for the next dump's replay: pages that somebody looked at (mark_touched(),
  /// and the worker's own record), not just prefetched, since the store was made. Pages that are
  /// not in the store are not marked.
  void mark_touched(std::uint64_t number);
  PageRuns touched() const;
  std::size_t touched_pages() const; ///< how many of those that are in the store

  /// What a worker says that it has looked at, by slot, counts from now on as touched, until the
  /// record is taken away (nullptr), for which it must still be there. Not owned. Nothing in it is
  /// trusted: slots that hold no page are ignored.
  void set_worker_record(const page_table::TouchRecord* record);

  /// Whoever fills the store calls let_look() while more pages are on their way: what is here can
  /// be worked on meanwhile. The onlooker reads no memory, and says whether it still wants more
  /// than what it has asked for. Null: nobody, who wants nothing.
  void set_onlooker(std::function<bool()> onlooker);
  bool let_look() const;

  std::size_t pages() const;      ///< in the store, or prepared
  std::size_t room() const;       ///< pages that prepare() can still take
  int descriptor() const;         ///< for the worker: can be mapped read-only, nothing else
  std::size_t file_bytes() const; ///< of address space that mapping it takes

private:
  struct Impl;
  explicit PageStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge
