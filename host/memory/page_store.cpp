#include "host/memory/page_store.h"

#include "rsp/unique_fd.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace mqbridge {
namespace {

using page_table::Entry;
using page_table::Header;
using page_table::smallest_table;
using page_table::table_offset;

constexpr std::uint64_t last_page = UINT64_MAX / PageStore::page_size;

/// The places of the table and of the pages in the file. As the table fills, it moves to one of
/// twice the size behind it: only the tables that were used take memory.
struct FileLayout {
  explicit FileLayout(std::uint64_t slot_count) : slots(slot_count) {
    // The largest table has twice the entries that the pages need: pages may be given back.
    while (entries < 4 * slots)
      entries *= 2;
    data = table_offset(2 * entries);
    size = data + slots * PageStore::page_size;
  }

  std::uint64_t slots;
  std::uint64_t entries = smallest_table; ///< of the largest table
  std::uint64_t data = 0;
  std::uint64_t size = 0;
};

Failure cannot_make(std::size_t max_bytes, std::string_view what) {
  return fail(
      "memory.store",
      fmt::format("cannot make room for {} MiB of the target's pages: {}: {}", max_bytes >> 20,
                  what, std::strerror(errno)),
      "ulimit -f -n -v    shows the limits of this process; --cache none needs no such room");
}

/// The limit holds for files in memory, too: ftruncate() beyond it ends the process by SIGXFSZ.
std::uint64_t file_size_limit() {
  rlimit now{};
  const bool limited = ::getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
  return limited ? now.rlim_cur : UINT64_MAX;
}

/// The part of a file of this size that pages may take; the tables take an eighth of it at most.
constexpr std::uint64_t pages_part(std::uint64_t file_size) {
  return file_size / 8 * 7;
}

} // namespace

struct PageStore::Impl {
  explicit Impl(const FileLayout& of) : layout(of) {}
  ~Impl() {
    if (base != nullptr)
      ::munmap(base, layout.size);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Header& header() { return *reinterpret_cast<Header*>(base); }
  std::uint64_t entries() { return header().entries.load(std::memory_order_relaxed); }
  Entry* table_of(std::uint64_t size) {
    return reinterpret_cast<Entry*>(base + table_offset(size));
  }
  Entry* table() { return table_of(entries()); }
  std::byte* slot(std::uint64_t index) { return base + layout.data + index * page_size; }
  Entry& entry(std::uint64_t number) {
    return const_cast<Entry&>(page_table::find(table(), entries(), number));
  }
  /// The entry of a page; nullptr: it is neither prepared nor known. The slot of a page that was
  /// given back belongs to another page.
  Entry* known(std::uint64_t number) {
    if (number > last_page)
      return nullptr;
    Entry& found = entry(number);
    const std::uint64_t slot = found.slot.load(std::memory_order_relaxed);
    const bool is_there = found.key.load(std::memory_order_relaxed) != 0 && slot < numbers.size() &&
                          numbers[slot] == number;
    return is_there ? &found : nullptr;
  }

  Result<void> open();
  void reserve(std::size_t more);
  void insert(std::uint64_t number, std::uint64_t slot);
  /// Takes over the pages that the worker has recorded.
  void merge_record();
  /// Page numbers of this epoch's slots that are marked.
  void add_touched(std::vector<std::uint64_t>& into) const;

  FileLayout layout;
  rsp::UniqueFd file;
  std::byte* base = nullptr; ///< the only writable mapping
  /// Entries of the table: also those of pages that were given back, as the worker may be looking
  /// at one.
  std::size_t used = 0;
  std::vector<std::uint64_t> numbers; ///< by slot, those in use
  std::vector<std::uint64_t> marked;  ///< a bit for each slot: touched
  std::vector<std::uint64_t> earlier; ///< touched before the last clear()
  const page_table::TouchRecord* record = nullptr;
  std::function<bool()> onlooker;
};

Result<void> PageStore::Impl::open() {
  const std::size_t max_bytes = layout.slots * page_size;
  if (layout.size > file_size_limit()) {
    errno = EFBIG;
    return cannot_make(max_bytes, "ftruncate");
  }
  file = rsp::UniqueFd(::memfd_create("mqbridge-pages", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(layout.size)) != 0)
    return cannot_make(max_bytes, "memfd_create");
  void* mapped = ::mmap(nullptr, layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED)
    return cannot_make(max_bytes, "mmap");
  base = static_cast<std::byte*>(mapped);
  // From here on no process that has the descriptor gets a second writable mapping.
  if (::fcntl(file.get(), F_ADD_SEALS,
              F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return cannot_make(max_bytes, "F_ADD_SEALS");
  header().magic = page_table::magic;
  header().epoch = 1;
  header().data = layout.data;
  header().slots = layout.slots;
  header().entries.store(smallest_table, std::memory_order_release);
  return {};
}

void PageStore::Impl::reserve(std::size_t more) {
  const std::uint64_t before = entries();
  std::uint64_t wanted = before;
  while (2 * (used + more) > wanted)
    wanted *= 2;
  if (wanted == before)
    return;
  Entry* larger = table_of(wanted);
  for (const Entry& from : std::span(table(), before)) {
    const std::uint64_t key = from.key.load(std::memory_order_relaxed);
    if (key == 0)
      continue;
    Entry& to = const_cast<Entry&>(page_table::find(larger, wanted, key - 1));
    to.slot.store(from.slot.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to.readable.store(from.readable.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to.settled.store(from.settled.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to.key.store(key, std::memory_order_release);
  }
  header().entries.store(wanted, std::memory_order_release);
}

void PageStore::Impl::insert(std::uint64_t number, std::uint64_t slot) {
  Entry& to = entry(number);
  used += to.key.load(std::memory_order_relaxed) == 0 ? 1 : 0;
  to.slot.store(slot, std::memory_order_relaxed);
  to.key.store(number + 1, std::memory_order_release);
}

void PageStore::Impl::merge_record() {
  if (record == nullptr || numbers.empty())
    return;
  for (std::size_t word = 0; word < marked.size(); ++word)
    marked[word] |= (*record)[word].load(std::memory_order_relaxed);
  // The worker may have set bits of slots that hold nothing.
  if (const std::size_t rest = numbers.size() % 64; rest != 0)
    marked.back() &= ~(~std::uint64_t{0} << rest);
}

void PageStore::Impl::add_touched(std::vector<std::uint64_t>& into) const {
  for (std::size_t word = 0; word < marked.size(); ++word)
    for (std::uint64_t bits = marked[word]; bits != 0; bits &= bits - 1)
      into.push_back(numbers[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
}

PageStore::PageStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageStore::~PageStore() = default;

Result<std::unique_ptr<PageStore>> PageStore::create(std::size_t max_bytes) {
  const std::size_t allowed = std::min<std::uint64_t>(max_bytes, pages_part(file_size_limit()));
  const std::size_t bounded = std::clamp(allowed, page_size, most_bytes);
  auto impl = std::make_unique<Impl>(FileLayout(bounded / page_size));
  if (auto opened = impl->open(); !opened)
    return forward(std::move(opened));
  return std::unique_ptr<PageStore>(new PageStore(std::move(impl)));
}

std::optional<PageStore::Page> PageStore::find(std::uint64_t number) const {
  const Entry* entry = impl_->known(number);
  const std::uint64_t settled = entry != nullptr ? entry->settled.load() : 0;
  if (settled == 0)
    return std::nullopt;
  return Page{impl_->slot(entry->slot.load()), entry->readable.load(), settled};
}

std::span<std::byte> PageStore::prepare(std::uint64_t first, std::size_t count) {
  if (count == 0 || count > room() || first > last_page || count - 1 > last_page - first)
    return {};
  for (std::size_t i = 0; i < count; ++i)
    if (find(first + i))
      return {};
  impl_->reserve(count);
  const std::uint64_t slot = impl_->numbers.size();
  for (std::size_t i = 0; i < count; ++i) {
    impl_->insert(first + i, slot + i);
    impl_->numbers.push_back(first + i);
  }
  impl_->marked.resize((impl_->numbers.size() + 63) / 64);
  return {impl_->slot(slot), count * page_size};
}

void PageStore::give_back(std::size_t count) {
  const std::size_t left = impl_->numbers.size() - std::min(count, impl_->numbers.size());
  for (std::size_t at = left; at < impl_->numbers.size(); ++at)
    if (find(impl_->numbers[at]))
      return;
  impl_->numbers.resize(left);
  impl_->marked.resize((left + 63) / 64);
}

std::byte* PageStore::bytes_of(std::uint64_t number) {
  const Entry* entry = impl_->known(number);
  return entry != nullptr ? impl_->slot(entry->slot.load()) : nullptr;
}

void PageStore::publish(std::uint64_t number, std::uint64_t readable, std::uint64_t settled) {
  Entry* entry = impl_->known(number);
  if (entry == nullptr)
    return;
  entry->settled.fetch_or(settled, std::memory_order_relaxed);
  entry->readable.fetch_or(readable & settled, std::memory_order_release);
}

void PageStore::clear() {
  impl_->merge_record();
  impl_->add_touched(impl_->earlier);
  std::ranges::sort(impl_->earlier);
  impl_->earlier.erase(std::unique(impl_->earlier.begin(), impl_->earlier.end()),
                       impl_->earlier.end());
  std::memset(static_cast<void*>(impl_->table()), 0, impl_->entries() * sizeof(Entry));
  impl_->used = 0;
  impl_->numbers.clear();
  impl_->marked.clear();
  ++impl_->header().epoch;
}

void PageStore::mark_touched(std::uint64_t number) {
  if (const Entry* entry = impl_->known(number)) {
    const std::uint64_t slot = entry->slot.load(std::memory_order_relaxed);
    impl_->marked[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }
}

bool PageStore::copy(std::uint64_t address, std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t offset = address % page_size;
    const auto part = into.first(std::min(into.size(), page_size - offset));
    const auto known = find(address / page_size);
    const std::uint64_t lines = page_table::lines_of(offset, part.size());
    if (!known || (known->readable & lines) != lines)
      return false;
    mark_touched(address / page_size);
    std::memcpy(part.data(), known->bytes + offset, part.size());
    address += part.size();
    into = into.subspan(part.size());
  }
  return true;
}

PageRuns PageStore::touched() const {
  impl_->merge_record();
  std::vector<std::uint64_t> numbers = impl_->earlier;
  impl_->add_touched(numbers);
  return runs_of(std::move(numbers));
}

std::size_t PageStore::touched_pages() const {
  impl_->merge_record();
  std::size_t count = 0;
  for (const std::uint64_t word : impl_->marked)
    count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

void PageStore::set_worker_record(const page_table::TouchRecord* record) {
  impl_->merge_record();
  impl_->record = record;
}

void PageStore::set_onlooker(std::function<bool()> onlooker) {
  impl_->onlooker = std::move(onlooker);
}

bool PageStore::let_look() const {
  return impl_->onlooker && impl_->onlooker();
}

std::size_t PageStore::pages() const {
  return impl_->numbers.size();
}

std::size_t PageStore::room() const {
  const auto& layout = impl_->layout;
  return std::min(layout.slots - impl_->numbers.size(), layout.entries / 2 - impl_->used);
}

std::size_t PageStore::file_bytes() const {
  return impl_->layout.size;
}

int PageStore::descriptor() const {
  return impl_->file.get();
}

} // namespace mqbridge
