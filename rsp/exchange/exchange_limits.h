#pragma once

#include "rsp/result.h"
#include "rsp/transport/transport.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

namespace mqbridge::rsp {

/// The debugger that has sent the request of an exchange. Any member is called from the thread that
/// exchanges.
class RunWatcher {
public:
  virtual ~RunWatcher() = default;
  /// Output that the stub sends before its reply: "O" and hexadecimal digits.
  virtual void console_output(std::string_view payload) = 0;
  /// Whether 0x03 shall go to the stub, while the target runs. Asked again whenever the
  /// connection's transport is woken, and true once for each 0x03.
  virtual bool take_interrupt() = 0;
  /// Whether it answers what the target asks of its files (packet F): such a request is then the
  /// reply, and the answer to it is the next packet that lets the target run.
  virtual bool answers_file_requests() const { return false; }
};

/// One reply being waited for.
struct ReplyWait {
  using Clock = Transport::Clock;

  ReplyWait(std::string_view asked, std::chrono::milliseconds silence_limit)
      : request(asked), silence(silence_limit) {}

  std::string_view request;          ///< what it answers; for messages
  std::chrono::milliseconds silence; ///< how long the stub may say nothing
  Clock::time_point begun = Clock::now();
  Clock::time_point last_byte = begun;
  bool acked = false;     ///< the stub has acknowledged the request
  bool defer_ack = false; ///< another request follows at once
  bool unlimited = false; ///< the target runs: only cancel() ends the waiting
  int damaged = 0;        ///< packets received with a wrong checksum
  int refused = 0;        ///< `-` received
  std::size_t garbage = 0;
  RunWatcher* watcher = nullptr; ///< null: console output is skipped
  /// Called when the connection's transport is woken; null: nothing is.
  const std::function<Result<void>()>* when_woken = nullptr;
};

/// How long the exchanges of a connection may go on: until the deadline of the target, the user's
/// Ctrl-C, or too long a silence of the stub. Detaching is exempt from the first two, and has a
/// limit of its own. No I/O, no clock.
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

  /// nullopt: no deadline counts.
  std::optional<Clock::duration> time_left(Clock::time_point now) const;

  enum class Passed : std::uint8_t { cancelled, deadline, silence };
  /// The next moment at which a limit of `wait` passes, or which one has passed by `now`.
  tl::expected<Clock::time_point, Passed> next(const ReplyWait& wait, Clock::time_point now) const;

private:
  std::chrono::milliseconds silence_;
  std::optional<Clock::time_point> exempt_until_;

  mutable std::mutex mutex_; ///< guards the members below
  std::optional<Clock::time_point> deadline_;
  bool cancelled_ = false;
};

} // namespace mqbridge::rsp
