#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// The layout of a PageStore's file, which the worker of the debug DLL maps as well: a header,
/// tables of entries, and pages in slots. Only the parent writes, while the worker reads: pages
/// become visible one by one, and a full table is followed by one of twice its size. Published data
/// stays as it is until the next epoch, and the worker has to wait for that. Needs libc and
/// libstdc++ only, for the worker's sake.
namespace mqbridge::page_table {

inline constexpr std::size_t page_size = 4096;
inline constexpr std::size_t line_size = 64;
inline constexpr std::uint64_t magic = 0x6d71627061676531; // "mqbpage1"

/// The state of one page. All zero: free.
struct Entry {
  std::atomic<std::uint64_t> key; ///< page number + 1: the page at address 0 is a page, too
  std::atomic<std::uint64_t> slot;
  std::atomic<std::uint64_t> readable; ///< a bit for each line, stored after the line's bytes
  std::atomic<std::uint64_t> settled;  ///< readable, or known to be a hole
};

struct Header {
  std::uint64_t magic;
  std::uint64_t epoch; ///< another one: everything was cleared, slots hold other pages
  std::uint64_t data;  ///< offset of slot 0
  std::uint64_t slots; ///< of page_size bytes each
  /// Number of entries of the table in use, which also determines its place: a power of two, never
  /// all in use. Stored after the entries were copied there.
  std::atomic<std::uint64_t> entries;
};

inline constexpr std::uint64_t smallest_table = page_size / sizeof(Entry);

/// Where the table with so many entries begins in the file: behind the header and all smaller ones.
constexpr std::uint64_t table_offset(std::uint64_t entries) {
  return page_size + (entries - smallest_table) * sizeof(Entry);
}

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");
static_assert(sizeof(Header) <= page_size && page_size % sizeof(Entry) == 0);

/// Where the search for a page begins. Pages come in runs, and the pages of a run are looked up one
/// after the other. So four neighbours stay together, in two cache lines that the processor fetches
/// as one. The groups are spread by a multiplication with 2^64 over the golden ratio.
constexpr std::uint64_t first_probe(std::uint64_t number, std::uint64_t entries) {
  constexpr std::uint64_t neighbours = 4;
  const std::uint64_t group = number / neighbours * 0x9e3779b97f4a7c15 >> 32;
  return (group * neighbours + number % neighbours) & (entries - 1);
}

/// The entry of a page, or the free one where it belongs.
inline const Entry& find(const Entry* table, std::uint64_t entries, std::uint64_t number) {
  for (std::uint64_t at = first_probe(number, entries);; at = (at + 1) & (entries - 1)) {
    const std::uint64_t key = table[at].key.load(std::memory_order_acquire);
    if (key == number + 1 || key == 0)
      return table[at];
  }
}

/// The lines that hold `size` bytes from `offset` of a page on; size is at least 1, and all bytes
/// are in the page.
constexpr std::uint64_t lines_of(std::size_t offset, std::size_t size) {
  const std::size_t first = offset / line_size;
  const std::size_t last = (offset + size - 1) / line_size;
  return (~std::uint64_t{0} >> (63 - (last - first))) << first;
}

/// The slots whose pages the worker has looked at, a bit each: its side of PageStore::touched().
/// Only the worker writes it. It is all zero at first, and again in each new epoch. The parent
/// takes it for a hint that may be wrong.
inline constexpr std::uint64_t max_slots = std::uint64_t{1} << 20;
using TouchRecord = std::array<std::atomic<std::uint64_t>, max_slots / 64>;

} // namespace mqbridge::page_table
