#pragma once

#include "host/disk/cache_records.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Pieces of files that debuggers have read through stubs, kept from one session to the next. No
/// two pieces of a file have the same number; all but the last one have one size.
class RememberedFiles {
public:
  using Pieces = std::map<std::size_t, std::string>; ///< by number

  /// In a folder of `cache`; nullopt: nothing is kept.
  explicit RememberedFiles(const std::optional<std::filesystem::path>& cache);

  /// The name of a file, by the build-id near its `beginning` and by `status`, the reply to fstat.
  /// Empty: it cannot be told from others.
  static std::string key(std::string_view beginning, std::string_view status,
                         std::size_t piece_size);
  /// Adds what is known of the file, which has `size` bytes. The number of pieces.
  std::size_t recall(const std::string& key, std::size_t size, std::size_t piece_size,
                     Pieces& pieces) const;
  /// Those of `pieces` that are whole.
  void keep(const std::string& key, std::size_t size, std::size_t piece_size,
            const Pieces& pieces) const;

private:
  CacheRecords records_;
};

/// Of a piece; the last one of a file is shorter, and behind it they are empty.
std::size_t size_of_piece(std::size_t number, std::size_t size, std::size_t piece_size);

} // namespace mqbridge
