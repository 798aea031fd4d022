#include "host/confined/page_view.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>

namespace mqbridge::sandbox {
namespace {

using page_table::page_size;

const std::byte* at(const page_table::Header* store, std::uint64_t offset) {
  return reinterpret_cast<const std::byte*>(store) + offset;
}

/// The sizes of usual fetches are compile-time constants here, which halves the cost of memcpy.
void copy(std::byte* into, const std::byte* from, std::size_t size) {
  switch (size) {
  case 8:
    std::memcpy(into, from, 8);
    return;
  case 4:
    std::memcpy(into, from, 4);
    return;
  case 1:
    *into = *from;
    return;
  default:
    std::memcpy(into, from, size);
  }
}

/// Most pages get many more fetches, one after the other, and each would wait for its line. This
/// wait was 14 of the 35 ns that a fetch took, DLL included.
void prefetch(const std::byte* page) {
  for (std::size_t offset = 0; offset < page_size; offset += page_table::line_size)
    __builtin_prefetch(page + offset);
}

} // namespace

void PageView::attach(FileDescriptor descriptor) {
  struct stat file {};
  void* mapped = MAP_FAILED;
  if (::fstat(descriptor.get(), &file) == 0)
    mapped = ::mmap(nullptr, static_cast<std::size_t>(file.st_size), PROT_READ, MAP_SHARED,
                    descriptor.get(), 0);
  if (mapped == MAP_FAILED)
    return;
  store_ = static_cast<const page_table::Header*>(mapped);
  store_bytes_ = static_cast<std::size_t>(file.st_size);
  epoch_ = store_->epoch;
}

void PageView::detach() {
  if (store_ != nullptr)
    ::munmap(const_cast<page_table::Header*>(store_), store_bytes_);
  store_ = nullptr;
  forget_seen();
}

bool PageView::fetch(std::uint64_t address, std::span<std::byte> into) {
  if (into.empty())
    return true;
  if (address + (into.size() - 1) < address)
    return false;
  if (store_ != nullptr && from_store(address, into))
    return true;
  if (elsewhere_ == nullptr)
    return false;
  const bool there = elsewhere_->fetch(address, into);
  forget_seen(); // more of their lines may be there now
  return there;
}

bool PageView::from_store(std::uint64_t address, std::span<std::byte> into) {
  if (store_->epoch != epoch_) { // the store was full: each slot has another page now
    epoch_ = store_->epoch;
    forget_seen();
    if (touched_ != nullptr)
      for (auto& word : *touched_)
        word.store(0, std::memory_order_relaxed);
  }
  while (true) {
    const std::uint64_t number = address / page_size;
    const std::size_t offset = address % page_size;
    const std::size_t size = std::min(into.size(), page_size - offset);
    Seen& seen = seen_[number % seen_.size()];
    const bool is_new = seen.key != number + 1;
    if (is_new)
      look_up(seen, number);
    const std::uint64_t lines = page_table::lines_of(offset, size);
    if ((seen.readable & lines) != lines)
      return false;
    copy(into.data(), seen.bytes + offset, size);
    if (is_new) // it is mapped by now: an unmapped page is not prefetched
      prefetch(seen.bytes);
    if (size == into.size())
      return true;
    address += size;
    into = into.subspan(size);
  }
}

void PageView::look_up(Seen& seen, std::uint64_t number) {
  const std::uint64_t entries = store_->entries.load(std::memory_order_acquire);
  const auto* table =
      reinterpret_cast<const page_table::Entry*>(at(store_, page_table::table_offset(entries)));
  const auto& entry = page_table::find(table, entries, number);
  const std::uint64_t readable = entry.readable.load(std::memory_order_acquire);
  if (readable == 0) {
    seen = {};
    return;
  }
  const std::uint64_t slot = entry.slot.load(std::memory_order_relaxed);
  seen = {number + 1, readable, at(store_, store_->data + slot * page_size)};
  if (touched_ == nullptr)
    return;
  // This process is the only writer, so no locked instruction is needed.
  auto& word = (*touched_)[slot / 64];
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  word.store(word.load(std::memory_order_relaxed) | bit, std::memory_order_relaxed);
}

} // namespace mqbridge::sandbox
