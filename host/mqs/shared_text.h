#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mqbridge {

/// A text that never changes, or none. Many operations have the same one: copies share it, on any
/// thread.
using SharedText = std::shared_ptr<const std::string>;

/// Makes equal texts one. One thread at a time.
class TextPool {
public:
  /// A DLL that says something else each time would fill it for nothing: so many are kept.
  static constexpr std::size_t most = 4096;

  /// Never null.
  SharedText share(std::string_view text);
  /// What all texts took that were made, those that are not kept here, too.
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
  SharedText last_; ///< operations of a kind come in a row
  std::unordered_map<std::string_view, SharedText> texts_;
};

} // namespace mqbridge
