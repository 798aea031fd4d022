#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mqbridge {

/// A text that never changes, or none. Many operations have the same text: copies share it, on any
/// thread.
using SharedText = std::shared_ptr<const std::string>;

/// Makes equal texts share one string. One thread at a time.
class TextPool {
public:
  /// At most so many texts are kept: a DLL that prints another one each time would fill memory for
  /// nothing.
  static constexpr std::size_t most = 4096;

  /// Never null.
  SharedText share(std::string_view text);
  /// Bytes of all texts that were made, including those that are not kept here.
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
  SharedText last_; ///< equal operations often follow each other
  std::unordered_map<std::string_view, SharedText> texts_;
};

} // namespace mqbridge
