#include "host/mqs/shared_text.h"

namespace mqbridge {

SharedText TextPool::share(std::string_view text) {
  if (last_ && *last_ == text)
    return last_;
  if (const auto found = texts_.find(text); found != texts_.end()) {
    last_ = found->second;
  } else {
    constexpr std::size_t body = 64; // and what an allocation takes beside it
    last_ = SharedText(text);
    bytes_ += text.size() + body;
    if (texts_.size() < most)
      texts_.emplace(*last_, last_);
  }
  return last_;
}

} // namespace mqbridge
