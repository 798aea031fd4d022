#pragma once

#include "host/memory/memory.h"
#include "host/memory/page_store.h"

#include <algorithm>
#include <cstdint>

namespace mqbridge {

/// A page cache without any policy, for tests of what looks into its store: a page that is asked
/// for is put there, whole or only in the lines that were asked for, and nothing else.
class StoringMemory final : public Memory {
public:
  StoringMemory(Memory& below, PageStore& store) : below_(below), store_(store) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    for (auto& range : ranges) {
      range.read = 0;
      while (range.read < range.into.size()) {
        ++pieces;
        const std::uint64_t address = range.address.value + range.read;
        const std::size_t offset = address % PageStore::page_size;
        const auto rest = range.into.subspan(range.read);
        const std::size_t size = std::min(rest.size(), PageStore::page_size - offset);
        auto read = read_piece(address / PageStore::page_size, offset, rest.first(size));
        if (!read)
          return forward(std::move(read));
        range.read += *read;
        if (*read < size)
          break;
      }
    }
    return {};
  }

  bool whole_pages = true;
  std::uint64_t pieces = 0; ///< of one page that somebody asked for: the misses of a view

private:
  Result<std::size_t> read_piece(std::uint64_t number, std::size_t offset,
                                 std::span<std::byte> into) {
    const auto found = store_.find(number);
    const std::uint64_t wanted = page_table::lines_of(offset, into.size());
    if (!found || (found->readable & wanted) != wanted)
      if (auto loaded = load(number, whole_pages ? PageStore::all_lines : wanted); !loaded)
        return forward(std::move(loaded));
    return below_.read({number * PageStore::page_size + offset}, into);
  }

  Result<void> load(std::uint64_t number, std::uint64_t lines) {
    std::byte* bytes = store_.bytes_of(number);
    if (bytes == nullptr) {
      auto room = store_.prepare(number, 1);
      if (room.empty()) {
        store_.clear();
        room = store_.prepare(number, 1);
      }
      bytes = room.data();
    }
    std::uint64_t readable = 0;
    for (std::size_t line = 0; line < 64; ++line) {
      if ((lines >> line & 1) == 0)
        continue;
      const std::size_t at = line * PageStore::line_size;
      auto read =
          below_.read({number * PageStore::page_size + at}, {bytes + at, PageStore::line_size});
      if (!read)
        return forward(std::move(read));
      if (*read == PageStore::line_size)
        readable |= std::uint64_t{1} << line;
    }
    store_.publish(number, readable, lines);
    return {};
  }

  Memory& below_;
  PageStore& store_;
};

} // namespace mqbridge
