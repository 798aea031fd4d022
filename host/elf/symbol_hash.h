#pragma once

#include "host/memory/platform.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The hash function of DT_GNU_HASH.
std::uint32_t gnu_hash(std::string_view name);

/// Finds the symbols of a table that may have a name. Immutable: any thread.
class SymbolHash {
public:
  virtual ~SymbolHash() = default;
  /// Indexes of all symbols whose name has this gnu_hash(), perhaps of others, too. An index may
  /// lie beyond the end of the table: the caller must check.
  virtual std::vector<std::uint32_t> candidates(std::uint32_t hash) const = 0;
};

/// A .gnu.hash section as the link editor wrote it, for the defined global symbols of .dynsym.
class GnuHash : public SymbolHash {
public:
  /// `symbols`: how many symbols .dynsym has. nullopt: the section cannot be used. Wrong words in
  /// it are not noticed: they only hide symbols.
  static std::optional<GnuHash> read(std::vector<std::byte> section, bool is_64, ByteOrder order,
                                     std::uint64_t symbols);

  std::vector<std::uint32_t> candidates(std::uint32_t hash) const override;

private:
  GnuHash(std::vector<std::byte> section, bool is_64, ByteOrder order);
  std::uint32_t word(std::size_t at) const;
  bool is_sound(std::uint64_t symbols) const;
  bool may_contain(std::uint32_t hash) const;

  std::vector<std::byte> section_;
  std::size_t bloom_word_; ///< bytes
  ByteOrder order_;
  std::uint32_t buckets_ = 0;
  std::uint32_t first_symbol_ = 0; ///< symbols before it have no hash
  std::uint32_t bloom_words_ = 0;
  std::uint32_t bloom_shift_ = 0;
  std::size_t buckets_at_ = 0; ///< bytes from the start
  std::size_t chains_at_ = 0;
  std::size_t chains_ = 0; ///< words
};

/// The same for a table without such a section, above all .symtab: made by reading all names once,
/// and kept for the next run.
class BuiltHash : public SymbolHash {
public:
  struct Entry {
    std::uint32_t hash = 0;
    std::uint32_t symbol = 0;
  };

  explicit BuiltHash(std::span<const Entry> entries);
  /// From the result of to_bytes() on a host of the same byte order. nullopt: it is something else.
  static std::optional<BuiltHash> from_bytes(std::span<const std::byte> bytes);
  std::vector<std::byte> to_bytes() const;

  std::vector<std::uint32_t> candidates(std::uint32_t hash) const override;

private:
  BuiltHash() = default;
  std::uint32_t bucket_of(std::uint32_t hash) const {
    return static_cast<std::uint32_t>(std::uint64_t{hash} >> (32 - bits_));
  }

  unsigned bits_ = 0;                 ///< log2 of the number of buckets, at most 32
  std::vector<std::uint32_t> starts_; ///< in entries_, of each bucket; one more: the end
  std::vector<Entry> entries_;        ///< by bucket, in table order within
};

} // namespace mqbridge
