#pragma once

#include "host/disk/cache_directory.h"
#include "host/disk/checksum.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The name of a kind of record, and the version of it that this program reads and writes.
struct RecordKind {
  std::string_view folder; ///< in cache_root()
  std::uint32_t version = 1;
  std::uint64_t limit = 0; ///< bytes of all records; the ones unused for longest make room
};

/// Results that are kept from one run to the next by a key: indexes of files, pages that a dump has
/// looked at. A record is whole, or it does not exist: its header has version, byte order, the key
/// and a checksum of everything, and a record that does not agree with it is ignored. If nothing
/// can be kept (no home, a directory that others can write to, a full disk), everything works
/// without. Thread-safe; several processes may share the directory.
class CacheRecords {
public:
  /// In cache_root().
  explicit CacheRecords(RecordKind kind);
  /// In a folder of `root`; nullopt: nothing is kept.
  CacheRecords(RecordKind kind, const std::optional<std::filesystem::path>& root);

  /// Why nothing is kept; nullopt: records are kept.
  const std::optional<Error>& unusable() const { return unusable_; }

  /// `key`: any text that tells this record from all others, versions included.
  std::optional<std::vector<std::byte>> load(std::string_view key) const;
  /// Replaces the record of the key. If two writers store at once, one of them stays. False: it
  /// could not be kept, or is larger than all records of the kind may be.
  bool store(std::string_view key, std::span<const std::byte> contents) const;

private:
  RecordKind kind_;
  std::optional<CacheDirectory> directory_;
  std::optional<Error> unusable_;
};

} // namespace mqbridge
