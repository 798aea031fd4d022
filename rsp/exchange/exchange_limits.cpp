#include "rsp/exchange/exchange_limits.h"

#include "rsp/limits.h"

#include <algorithm>

namespace mqbridge::rsp {

void ExchangeLimits::set_deadline(std::optional<Clock::time_point> deadline) {
  const std::lock_guard lock(mutex_);
  deadline_ = deadline;
}

void ExchangeLimits::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
}

ExchangeLimits::Exemption ExchangeLimits::exempt(Clock::time_point until) {
  exempt_until_ = until;
  return Exemption(*this);
}

std::optional<ExchangeLimits::Clock::duration>
ExchangeLimits::time_left(Clock::time_point now) const {
  if (exempt_until_)
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!deadline_)
    return std::nullopt;
  return *deadline_ - now;
}

tl::expected<ExchangeLimits::Clock::time_point, ExchangeLimits::Passed>
ExchangeLimits::next(const ReplyWait& wait, Clock::time_point now) const {
  if (wait.unlimited) {
    constexpr std::chrono::hours next_look{1};
    const std::lock_guard lock(mutex_);
    if (cancelled_)
      return tl::unexpected(Passed::cancelled);
    return now + next_look;
  }
  auto until =
      std::min(wait.last_byte + wait.silence, wait.begun + limits::silences_a_reply * wait.silence);
  if (exempt_until_) {
    until = std::min(until, *exempt_until_);
  } else {
    const std::lock_guard lock(mutex_);
    if (cancelled_)
      return tl::unexpected(Passed::cancelled);
    if (deadline_ && now >= *deadline_)
      return tl::unexpected(Passed::deadline);
    if (deadline_)
      until = std::min(until, *deadline_);
  }
  if (now < until)
    return until;
  return tl::unexpected(Passed::silence);
}

} // namespace mqbridge::rsp
