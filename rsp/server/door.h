#pragma once

#include "rsp/server/bell.h"
#include "rsp/server/listener.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace mqbridge::rsp {

/// Lets clients in at a Listener, one after the other. A thread of its own waits for them; some
/// wait inside until they are taken, and the others are sent away.
class Door {
public:
  /// `bell` is rung when somebody has come. It outlives this.
  Door(Listener listener, Bell& bell);

  const std::string& address() const { return listener_.address(); }
  /// For clients of ours.
  Endpoint endpoint() const { return listener_.endpoint(); }
  /// Who has come; nullopt: nobody.
  std::optional<UniqueFd> take();
  /// Waits for the next one. Errors: interrupted (`stop`, or nobody until then), listen.failed.
  Result<UniqueFd> wait(const std::stop_token& stop,
                        std::optional<Bell::Clock::time_point> until = std::nullopt);

private:
  void let_in(const std::stop_token& stop);

  Listener listener_;
  Bell& bell_;
  std::mutex mutex_; ///< guards the members below
  std::deque<UniqueFd> waiting_;
  std::optional<Error> broken_;
  std::jthread thread_;
};

} // namespace mqbridge::rsp
