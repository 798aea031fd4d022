#pragma once

#include "host/memory/page_runs.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
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
/// One thread at a time; the worker looks on only while nobody writes: it waits for the answer to
/// its miss.
class PageStore {
public:
  static constexpr std::size_t page_size = 4096;
  static constexpr std::size_t line_size = 64;
  static constexpr std::uint64_t all_lines = ~std::uint64_t{0};
  static constexpr std::size_t default_max_bytes = std::size_t{1} << 30;

  /// Error: memory.store (no descriptors, no memory).
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
  /// not seen before publish(). None of them may be in the store. Empty: there is no room
  /// (`clear()`, or ask for less).
  std::span<std::byte> prepare(std::uint64_t first, std::size_t count);
  /// Of a page that was prepared, or is in the store with lines still unsettled.
  std::byte* bytes_of(std::uint64_t number);
  /// Adds to what is known of a prepared page. `readable` is part of `settled`.
  void publish(std::uint64_t number, std::uint64_t readable, std::uint64_t settled);

  /// Nothing is known any more. Room of the store is given back to the system.
  void clear();

  /// For statistics and for the next dump's replay: pages that somebody looked at (mark_touched(),
  /// and the worker's own record), not just prefetched.
  void mark_touched(std::uint64_t number);
  PageRuns touched() const;

  std::size_t pages() const; ///< in the store
  std::size_t room() const;  ///< pages that prepare() can still take
  int descriptor() const;    ///< for the worker: can be mapped read-only, nothing else

private:
  struct Impl;
  explicit PageStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge
