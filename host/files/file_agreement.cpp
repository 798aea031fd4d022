#include "host/files/file_agreement.h"

#include "host/elf/elf_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::uint64_t longest_piece = std::uint64_t{64} << 10;
constexpr std::size_t pieces_at_once = 16;
/// The most pieces: 256 MB of symbols. Segments of a lying file may overlap, and then there is no
/// end of pieces.
constexpr std::size_t most_pieces = 4096;

/// Bytes of a file, by their offset in it.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool is_loaded = false; ///< all of it is, if the file is an honest one
};

/// Both symbol tables, with names and hashes. Only their loaded parts count. Empty: the file has
/// none, or is damaged, which others report.
std::vector<Extent> symbol_extents(const ElfFile& file) {
  std::vector<Extent> extents;
  const auto reader = ElfReader::open(file.place());
  const auto tables = reader ? reader->symbol_tables() : Failure(reader.error());
  if (!tables)
    return extents;
  const auto entry_size = reader->symbol_format().entry_size();
  for (const auto& table : *tables) {
    extents.push_back({table.offset, table.count * entry_size, table.is_dynamic});
    extents.push_back({table.names_offset, table.names_size, table.is_dynamic});
    extents.push_back({table.hash_offset, table.hash_size, table.is_dynamic});
  }
  return extents;
}

struct Piece {
  FileAddress address;
  std::size_t size = 0;
};

/// `segments` in the order of their offsets.
bool covers(std::span<const ElfSegment> segments, const Extent& extent) {
  const auto behind = extent.offset + extent.size;
  auto at = extent.offset;
  for (const auto& segment : segments)
    if (segment.offset <= at)
      at = std::max(at, segment.offset + segment.size);
  return at >= behind;
}

/// Adds the parts of `extent` that `segment` loads. Nobody writes to these, whatever the segment
/// allows.
void add_pieces(std::vector<Piece>& pieces, const ElfSegment& segment, const Extent& extent) {
  const auto behind = std::min(segment.offset + segment.size, extent.offset + extent.size);
  for (auto at = std::max(segment.offset, extent.offset);
       at < behind && pieces.size() <= most_pieces; at += longest_piece)
    pieces.push_back({{segment.address.value + (at - segment.offset)},
                      static_cast<std::size_t>(std::min(behind - at, longest_piece))});
}

/// Compares the pieces with the target's memory in one round trip.
Result<bool> agree(const ElfFile& file, std::span<const Piece> pieces, LoadBias bias,
                   Memory& memory) {
  std::vector<std::vector<std::byte>> found;
  std::vector<MemoryRange> ranges;
  for (const auto& piece : pieces) {
    found.emplace_back(piece.size); // a vector that moves keeps its buffer
    ranges.push_back({bias(piece.address), found.back()});
  }
  if (auto done = memory.read_ranges(ranges); !done)
    return Failure(done.error());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::vector<std::byte> expected(pieces[i].size);
    if (file.read(pieces[i].address, expected) != expected.size() ||
        ranges[i].read != expected.size() || expected != found[i])
      return false;
  }
  return true;
}

} // namespace

Result<bool> agrees_with_memory(const ElfFile& file, LoadBias bias, Memory& memory) {
  std::vector<ElfSegment> segments(file.segments().begin(), file.segments().end());
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::vector<Piece> pieces;
  for (const auto& extent : symbol_extents(file)) {
    if (extent.is_loaded && !covers(segments, extent))
      return false;
    for (const auto& segment : segments)
      add_pieces(pieces, segment, extent);
  }
  if (pieces.size() > most_pieces)
    return false;
  std::span<const Piece> left = pieces;
  while (!left.empty()) {
    const auto now = left.first(std::min(left.size(), pieces_at_once));
    auto same = agree(file, now, bias, memory);
    if (!same || !*same)
      return same;
    left = left.subspan(now.size());
  }
  return true;
}

} // namespace mqbridge
