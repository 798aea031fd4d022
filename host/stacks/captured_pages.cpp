#include "host/stacks/captured_pages.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::uint64_t page_size = PageStore::page_size;
constexpr std::uint64_t line_size = PageStore::line_size;

/// The lines of [first, end) that are in the page.
std::uint64_t lines_in(std::uint64_t page, std::uint64_t first, std::uint64_t end) {
  const auto from = std::max(first, page * page_size) - page * page_size;
  const auto to = std::min(end - page * page_size, page_size);
  return page_table::lines_of(from, to - from);
}

} // namespace

Result<CapturedPages> CapturedPages::create(std::size_t max_bytes) {
  auto store = PageStore::create(max_bytes);
  if (!store)
    return forward(std::move(store));
  return CapturedPages(std::shared_ptr<PageStore>(std::move(*store)));
}

CapturedPages::WantedPages CapturedPages::missing(std::span<const CaptureExtent> extents) const {
  WantedPages pages;
  for (const auto& extent : extents)
    for (auto page = extent.first / page_size; page * page_size < extent.end; ++page) {
      const auto known = store_->find(page);
      const auto lines = lines_in(page, extent.first, extent.end) & ~(known ? known->settled : 0);
      if (lines == 0)
        continue;
      auto& wanted = pages[page];
      wanted.lines |= lines;
      wanted.mapped &= extent.mapped;
    }
  return pages;
}

/// Prepares places: pages that follow each other lie so in the store, too. Pages for which it has
/// no room are dropped.
void CapturedPages::prepare(WantedPages& pages) {
  for (auto at = pages.begin(); at != pages.end();) {
    if (store_->find(at->first)) {
      ++at;
      continue;
    }
    const auto first = at->first;
    std::uint64_t count = 0;
    auto end = at;
    while (end != pages.end() && end->first == first + count && !store_->find(end->first) &&
           count < store_->room()) {
      ++end;
      ++count;
    }
    const bool has_room =
        count > 0 && !store_->prepare(first, static_cast<std::size_t>(count)).empty();
    at = has_room ? end : pages.erase(at);
  }
}

std::vector<CapturedPages::Piece> CapturedPages::pieces_of(const WantedPages& pages) const {
  std::vector<Piece> pieces;
  for (const auto& [page, wanted] : pages) {
    auto* const bytes = store_->bytes_of(page);
    for (auto lines = wanted.lines; lines != 0;) {
      const auto line = static_cast<std::uint64_t>(std::countr_zero(lines));
      const auto count = static_cast<std::uint64_t>(std::countr_one(lines >> line));
      const auto mask = page_table::lines_of(line * line_size, count * line_size);
      lines &= ~mask;
      const Piece piece{page * page_size + line * line_size,
                        {bytes + line * line_size, static_cast<std::size_t>(count * line_size)},
                        wanted.mapped};
      if (!pieces.empty() && pieces.back().mapped && piece.mapped &&
          pieces.back().first + pieces.back().into.size() == piece.first &&
          pieces.back().into.data() + pieces.back().into.size() == piece.into.data())
        pieces.back().into = {pieces.back().into.data(),
                              pieces.back().into.size() + piece.into.size()};
      else
        pieces.push_back(piece);
    }
  }
  return pieces;
}

/// A line of which only a part came counts as a hole: no mapping ends within a line.
void CapturedPages::publish(const Piece& piece, std::size_t read) {
  const auto whole = piece.first + read / line_size * line_size;
  const auto end = piece.first + piece.into.size();
  for (auto page = piece.first / page_size; page * page_size < end; ++page) {
    const auto settled = lines_in(page, piece.first, end);
    const auto readable =
        whole > std::max(piece.first, page * page_size) ? lines_in(page, piece.first, whole) : 0;
    store_->publish(page, readable, settled);
  }
}

Result<void> CapturedPages::read(Memory& memory, std::span<const CaptureExtent> extents) {
  auto wanted = missing(extents);
  prepare(wanted);
  const auto pieces = pieces_of(wanted);
  if (pieces.empty())
    return {};
  std::vector<MemoryRange> ranges;
  ranges.reserve(pieces.size());
  for (const auto& piece : pieces)
    ranges.push_back({{piece.first}, piece.into});
  if (auto done = memory.read_ranges(ranges); !done)
    return done;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    publish(pieces[i], ranges[i].read);
  return {};
}

std::uint64_t CapturedPages::readable_to(std::uint64_t first, std::uint64_t end) const {
  auto at = first;
  while (at < end) {
    const auto known = store_->find(at / page_size);
    const auto line = at % page_size / line_size;
    const auto count =
        known ? static_cast<std::uint64_t>(std::countr_one(known->readable >> line)) : 0;
    if (count == 0)
      break;
    at = (at / line_size + count) * line_size;
    if (at % page_size != 0)
      break;
  }
  return std::clamp(at, first, end);
}

bool CapturedPages::copy(std::uint64_t address, std::span<std::byte> into) const {
  return store_->copy(address, into);
}

} // namespace mqbridge
