#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mqbridge {

/// A text that never changes, or none, in one pointer: many operations have the same one. Copies
/// share it; threads may share copies.
class SharedText {
public:
  SharedText() = default;
  explicit SharedText(std::string_view text) : body_(new Body(text)) {}
  SharedText(const SharedText& other) noexcept : body_(other.body_) {
    if (body_ != nullptr)
      body_->users.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~SharedText() {
    if (body_ != nullptr && body_->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete body_;
  }

  explicit operator bool() const { return body_ != nullptr; }
  /// Valid as long as a copy of this one is there.
  std::string_view operator*() const { return body_->text; }
  operator std::optional<std::string_view>() const {
    return body_ != nullptr ? std::optional<std::string_view>(body_->text) : std::nullopt;
  }

private:
  struct Body {
    explicit Body(std::string_view said) : text(said) {}
    const std::string text;
    std::atomic<std::size_t> users{1};
  };
  Body* body_ = nullptr;
};

/// Makes equal texts one. One thread at a time.
class TextPool {
public:
  /// A DLL that says something else each time would fill it for nothing: so many are kept.
  static constexpr std::size_t most = 4096;

  SharedText share(std::string_view text);
  /// What all texts took that were made, those that are not kept here, too.
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
  SharedText last_; ///< operations of a kind come in a row
  std::unordered_map<std::string_view, SharedText> texts_;
};

} // namespace mqbridge
