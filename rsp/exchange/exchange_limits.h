#pragma once

#include "rsp/exchange/reply_wait.h"
#include "rsp/transport/transport.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <tl/expected.hpp>

namespace mqbridge::rsp {

/// Until when the exchanges of a connection may go on: the deadline of the target, the user's
/// Ctrl-C, and the silence of the stub. Detaching is exempt from the first two, and has a limit of
/// its own. No I/O, no clock.
///
/// set_deadline() and cancel() are for any thread, the rest is for the thread that exchanges.
class ExchangeLimits {
public:
  using Clock = Transport::Clock;

  explicit ExchangeLimits(std::chrono::milliseconds silence) : silence_(silence) {}

  void set_deadline(std::optional<Clock::time_point> deadline); ///< nullopt: none
  void cancel();

  /// How long a stub that owes an answer may say nothing.
  std::chrono::milliseconds silence() const { return silence_; }
  void add_silence(std::chrono::milliseconds more) { silence_ += more; }

  /// While it lives, cancel() and the deadline do not count, but its own end does.
  class [[nodiscard]] Exemption {
  public:
    ~Exemption() { limits_.exempt_until_.reset(); }
    Exemption(const Exemption&) = delete;
    Exemption& operator=(const Exemption&) = delete;

  private:
    friend class ExchangeLimits;
    explicit Exemption(ExchangeLimits& limits) : limits_(limits) {}
    ExchangeLimits& limits_;
  };
  Exemption exempt(Clock::time_point until);

  /// Until the deadline; nullopt: none counts.
  std::optional<Clock::duration> time_left(Clock::time_point now) const;

  enum class Passed : std::uint8_t { cancelled, deadline, silence };
  /// The next moment at which a limit of `wait` passes, or which one has passed by `now`.
  tl::expected<Clock::time_point, Passed> next(const ReplyWait& wait, Clock::time_point now) const;

private:
  std::chrono::milliseconds silence_;
  std::optional<Clock::time_point> exempt_until_;

  mutable std::mutex mutex_; ///< of what follows
  std::optional<Clock::time_point> deadline_;
  bool cancelled_ = false;
};

} // namespace mqbridge::rsp
