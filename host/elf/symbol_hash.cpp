#include "host/elf/symbol_hash.h"

#include "host/elf/bytes.h"
#include "host/limits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace mqbridge {
namespace {

constexpr std::size_t header_size = 16; // buckets, first symbol, bloom words, bloom shift

} // namespace

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name)
    hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

GnuHash::GnuHash(std::vector<std::byte> section, bool is_64, ByteOrder order)
    : section_(std::move(section)), bloom_word_(is_64 ? 8 : 4), order_(order) {
  if (section_.size() < header_size)
    return;
  buckets_ = word(0);
  first_symbol_ = word(4);
  bloom_words_ = word(8);
  bloom_shift_ = word(12);
  buckets_at_ = header_size + bloom_words_ * bloom_word_;
  chains_at_ = buckets_at_ + std::size_t{buckets_} * 4;
  if (chains_at_ <= section_.size())
    chains_ = (section_.size() - chains_at_) / 4;
}

std::optional<GnuHash> GnuHash::read(std::vector<std::byte> section, bool is_64, ByteOrder order,
                                     std::uint64_t symbols) {
  GnuHash table(std::move(section), is_64, order);
  if (!table.is_sound(symbols))
    return std::nullopt;
  return table;
}

bool GnuHash::is_sound(std::uint64_t symbols) const {
  if (buckets_ == 0 || !std::has_single_bit(bloom_words_) || bloom_shift_ > 31)
    return false;
  if (chains_at_ > section_.size())
    return false;
  // A file that exports nothing has buckets all the same, and no chains.
  bool is_empty = true;
  for (std::size_t i = 0; i < buckets_ && is_empty; ++i)
    is_empty = word(buckets_at_ + i * 4) == 0;
  return is_empty || (first_symbol_ <= symbols && chains_ >= symbols - first_symbol_);
}

std::uint32_t GnuHash::word(std::size_t at) const {
  return load_integer<std::uint32_t>(section_.data() + at, order_);
}

bool GnuHash::may_contain(std::uint32_t hash) const {
  const auto bits = static_cast<std::uint32_t>(bloom_word_ * 8);
  const auto index = (hash / bits) & (bloom_words_ - 1);
  const auto* at = section_.data() + header_size + index * bloom_word_;
  const std::uint64_t filter = bits == 64 ? load_integer<std::uint64_t>(at, order_)
                                          : load_integer<std::uint32_t>(at, order_);
  return (filter >> (hash % bits) & filter >> ((hash >> bloom_shift_) % bits) & 1) != 0;
}

std::vector<std::uint32_t> GnuHash::candidates(std::uint32_t hash) const {
  std::vector<std::uint32_t> found;
  if (!may_contain(hash))
    return found;
  const auto first = word(buckets_at_ + std::size_t{hash % buckets_} * 4);
  if (first < first_symbol_)
    return found;
  for (std::size_t i = first - first_symbol_;
       i < chains_ && found.size() < limits::symbols_of_one_name; ++i) {
    const auto chained = word(chains_at_ + i * 4);
    // The lowest bit ends the chain.
    if ((chained | 1) == (hash | 1))
      found.push_back(static_cast<std::uint32_t>(first_symbol_ + i));
    if ((chained & 1) != 0)
      break;
  }
  return found;
}

BuiltHash::BuiltHash(std::span<const Entry> entries)
    : bits_(static_cast<unsigned>(std::bit_width(entries.size()))),
      starts_((std::size_t{1} << bits_) + 1), entries_(entries.size()) {
  for (const auto& entry : entries)
    ++starts_[bucket_of(entry.hash) + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i)
    starts_[i] += starts_[i - 1];
  auto next = starts_;
  for (const auto& entry : entries)
    entries_[next[bucket_of(entry.hash)]++] = entry;
}

std::optional<BuiltHash> BuiltHash::from_bytes(std::span<const std::byte> bytes) {
  std::uint64_t count = 0;
  if (bytes.size() < sizeof count)
    return std::nullopt;
  std::memcpy(&count, bytes.data(), sizeof count);
  BuiltHash table;
  // This check comes before anything is allocated that is as large as the count says.
  if (count > bytes.size() / sizeof(Entry) || count > UINT32_MAX)
    return std::nullopt;
  table.bits_ = static_cast<unsigned>(std::bit_width(count));
  table.starts_.resize((std::size_t{1} << table.bits_) + 1);
  table.entries_.resize(count);
  const auto starts = std::as_writable_bytes(std::span(table.starts_));
  const auto entries = std::as_writable_bytes(std::span(table.entries_));
  if (bytes.size() != sizeof count + starts.size() + entries.size())
    return std::nullopt;
  std::copy_n(bytes.begin() + sizeof count, starts.size(), starts.begin());
  std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>(entries.size()), entries.size(),
              entries.begin());
  if (!std::is_sorted(table.starts_.begin(), table.starts_.end()) || table.starts_.back() > count)
    return std::nullopt;
  return table;
}

std::vector<std::byte> BuiltHash::to_bytes() const {
  const std::uint64_t count = entries_.size();
  const std::array parts = {std::as_bytes(std::span(&count, 1)), std::as_bytes(std::span(starts_)),
                            std::as_bytes(std::span(entries_))};
  std::vector<std::byte> bytes(parts[0].size() + parts[1].size() + parts[2].size());
  auto to = bytes.begin();
  for (const auto part : parts)
    to = std::copy(part.begin(), part.end(), to);
  return bytes;
}

std::vector<std::uint32_t> BuiltHash::candidates(std::uint32_t hash) const {
  std::vector<std::uint32_t> found;
  const auto bucket = bucket_of(hash);
  for (auto i = starts_[bucket];
       i < starts_[bucket + 1] && found.size() < limits::symbols_of_one_name; ++i)
    if (entries_[i].hash == hash)
      found.push_back(entries_[i].symbol);
  return found;
}

} // namespace mqbridge
