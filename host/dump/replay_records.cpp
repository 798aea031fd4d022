#include "host/dump/replay_records.h"

#include "host/disk/work_budget.h"
#include "host/limits.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace mqbridge {
namespace {

constexpr RecordKind replay_kind{
    .folder = "replay", .version = 1, .limit = std::uint64_t{64} << 20}; // some kB a process

std::string process_key(std::string_view identity) {
  return "process " + std::string(identity);
}
std::string image_key(std::string_view build_id) {
  return "image " + std::string(build_id);
}

void append_number(std::vector<std::byte>& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    bytes.push_back(static_cast<std::byte>((number & 0x7f) | 0x80));
  bytes.push_back(static_cast<std::byte>(number));
}

/// Takes the number off the front of `bytes`.
std::optional<std::uint64_t> take_number(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    const auto bits = byte & 0x7f;
    if (shift == 63 && bits > 1)
      return std::nullopt;
    number |= bits << shift;
    if (byte < 0x80)
      return number;
  }
  return std::nullopt;
}

PageRuns load(const CacheRecords& records, std::string_view key, std::uint64_t most_pages) {
  const auto bytes = records.load(key);
  return bytes ? decode_runs(*bytes, most_pages).value_or(PageRuns{}) : PageRuns{};
}

PageRuns united(const PageRuns& a, const PageRuns& b) {
  std::vector<std::uint64_t> pages;
  for (const auto* runs : {&a, &b})
    for (const auto& run : *runs)
      for (std::uint64_t i = 0; i < run.count; ++i)
        pages.push_back(run.first + i);
  return runs_of(std::move(pages));
}

} // namespace

ReplayRecords::ReplayRecords() : records_(replay_kind) {}

ReplayRecords::ReplayRecords(const std::optional<std::filesystem::path>& root)
    : records_(replay_kind, root) {}

PageRuns ReplayRecords::process_pages(std::string_view identity) {
  return load(records_, process_key(identity), limits::replayed_process_pages);
}

PageRuns ReplayRecords::image_pages(std::string_view build_id) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = images_.find(build_id); known != images_.end())
      return known->second;
  }
  if (work_over())
    return {};
  // No lock while loading: two ranks may read the same record.
  auto pages = load(records_, image_key(build_id), limits::replayed_image_pages);
  const std::lock_guard lock(mutex_);
  return images_.emplace(std::string(build_id), std::move(pages)).first->second;
}

void ReplayRecords::keep_process_pages(std::string_view identity, const PageRuns& pages) {
  if (count_pages(pages) <= limits::replayed_process_pages)
    records_.store(process_key(identity), encode_runs(pages));
}

void ReplayRecords::keep_image_pages(std::string_view build_id, const PageRuns& pages) {
  if (count_pages(pages) > limits::replayed_image_pages)
    return;
  const auto known = image_pages(build_id);
  auto all = united(known, pages);
  if (all == known || count_pages(all) > limits::replayed_image_pages)
    return;
  records_.store(image_key(build_id), encode_runs(all));
  const std::lock_guard lock(mutex_);
  images_.insert_or_assign(std::string(build_id), std::move(all));
}

std::vector<std::byte> encode_runs(const PageRuns& runs) {
  std::vector<std::byte> bytes;
  std::uint64_t end = 0;
  for (const auto& run : runs) {
    append_number(bytes, run.first - end);
    append_number(bytes, run.count);
    end = run.first + run.count;
  }
  return bytes;
}

std::optional<PageRuns> decode_runs(std::span<const std::byte> bytes, std::uint64_t most_pages) {
  constexpr std::uint64_t highest_page = std::numeric_limits<std::uint64_t>::max() >> 12;
  PageRuns runs;
  std::uint64_t end = 0;
  std::uint64_t pages = 0;
  while (!bytes.empty()) {
    const auto gap = take_number(bytes);
    const auto count = gap ? take_number(bytes) : std::nullopt;
    const bool touches = gap == std::uint64_t{0} && !runs.empty();
    if (!count || *count == 0 || touches || *gap > highest_page - end ||
        *count > most_pages - pages || *count > highest_page - end - *gap)
      return std::nullopt;
    runs.push_back({end + *gap, *count});
    end += *gap + *count;
    pages += *count;
  }
  return runs;
}

} // namespace mqbridge
