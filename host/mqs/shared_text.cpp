#include "host/mqs/shared_text.h"

namespace mqbridge {

SharedText TextPool::share(std::string_view text) {
  if (last_ && *last_ == text)
    return last_;
  if (const auto found = texts_.find(text); found != texts_.end()) {
    last_ = found->second;
  } else {
    constexpr std::size_t body = 96; // the string, its counters, and what two allocations take
    last_ = std::make_shared<const std::string>(text);
    bytes_ += text.size() + body;
    if (texts_.size() < most)
      texts_.emplace(*last_, last_);
  }
  return last_;
}

} // namespace mqbridge
