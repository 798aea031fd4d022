#include "host/mqs/worker/page_view.h"

#include <algorithm>
#include <cstring>

namespace mqbridge::worker {
namespace {

constexpr std::uint64_t page_size = 4096;
/// 512 MiB of pages; then the view starts over.
constexpr std::size_t max_pages = 128 * 1024;

} // namespace

bool PageView::fetch(std::uint64_t address, std::span<std::byte> into) {
  if (into.empty())
    return true;
  const std::uint64_t last = address + (into.size() - 1);
  if (last < address)
    return false;
  while (!into.empty()) {
    const std::uint64_t offset = address % page_size;
    const Page& from = page(address - offset, last - last % page_size);
    const std::size_t size = std::min<std::size_t>(into.size(), page_size - offset);
    if (offset + size <= from.valid)
      std::memcpy(into.data(), from.bytes.get() + offset, size);
    else if (!fetch_exactly(address, into.first(size))) // what is readable need not start a page
      return false;
    address += size;
    into = into.subspan(size);
  }
  return true;
}

/// `last_base` is the last page of the fetch: what is missing up to there comes along.
const PageView::Page& PageView::page(std::uint64_t base, std::uint64_t last_base) {
  if (base == recent_base_)
    return *recent_;
  auto found = pages_.find(base);
  if (found == pages_.end()) {
    const std::uint64_t most = wire::max_fetch / page_size;
    load(base, std::min(most, (last_base - base) / page_size + 1));
    found = pages_.find(base);
  }
  recent_base_ = base;
  recent_ = &found->second; // nodes of an unordered_map stay where they are
  return *recent_;
}

void PageView::load(std::uint64_t base, std::uint64_t count) {
  if (pages_.size() + count > max_pages) {
    pages_.clear();
    recent_base_ = 1;
  }
  const auto size = static_cast<std::uint32_t>(count * page_size);
  auto reply = channel_.ask(wire::Encoder().put(wire::Kind::fetch).put(base).put(size));
  auto bytes = reply.rest();
  // After a hole the pages behind it are not known to be holes: only the first one is settled.
  for (std::uint64_t i = 0; i < count && (i == 0 || !bytes.empty()); ++i) {
    const std::size_t valid = std::min<std::size_t>(bytes.size(), page_size);
    Page page{valid > 0 ? std::make_unique<std::byte[]>(page_size) : nullptr, valid};
    if (valid > 0)
      std::memcpy(page.bytes.get(), bytes.data(), valid);
    pages_.insert_or_assign(base + i * page_size, std::move(page));
    bytes = bytes.subspan(valid);
  }
}

bool PageView::fetch_exactly(std::uint64_t address, std::span<std::byte> into) {
  const auto size = static_cast<std::uint32_t>(into.size());
  auto reply = channel_.ask(wire::Encoder().put(wire::Kind::fetch).put(address).put(size));
  auto bytes = reply.take(size);
  if (!reply.complete())
    return false;
  std::memcpy(into.data(), bytes.data(), size);
  return true;
}

} // namespace mqbridge::worker
