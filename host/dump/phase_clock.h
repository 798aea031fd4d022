#pragma once

#include "host/dump/document.h"
#include "rsp/client/client.h"

#include <chrono>
#include <vector>

namespace mqbridge {

/// Measures the phases of one rank: time, round trips and bytes from the end of the phase before.
class PhaseClock {
public:
  using Clock = std::chrono::steady_clock;

  /// What the connection has cost so far; until then, nothing. Not owned.
  void watch(const rsp::Client* client) { client_ = client; }
  /// Ends the phase before, if any.
  void begin(PhaseName name);
  /// Ends the last phase and fills the totals of `statistics`.
  void finish(Statistics& statistics);

private:
  void end();
  rsp::Counters counters() const {
    return client_ != nullptr ? client_->counters() : rsp::Counters{};
  }

  const rsp::Client* client_ = nullptr;
  Clock::time_point start_ = Clock::now();
  Clock::time_point phase_start_ = start_;
  rsp::Counters phase_counters_;
  std::optional<PhaseName> current_;
  std::vector<Phase> phases_;
};

/// Milliseconds, with fractions.
double milliseconds(PhaseClock::Clock::duration duration);

/// RFC 3339 in UTC, to the millisecond.
std::string rfc3339(std::chrono::system_clock::time_point time);

} // namespace mqbridge
