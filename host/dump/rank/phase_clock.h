#pragma once

#include "host/dump/values/document.h"
#include "rsp/exchange/counters.h"

#include <chrono>
#include <functional>
#include <vector>

namespace mqbridge {

/// Measures the phases of one rank: time, round trips and bytes since the end of the phase before.
/// A phase that is begun again is continued.
class PhaseClock {
public:
  using Clock = std::chrono::steady_clock;

  /// `costs` returns the costs of the connection so far. Before this call they count as nothing.
  void watch(std::function<rsp::Counters()> costs) { costs_ = std::move(costs); }
  /// Ends the phase before, if any.
  void begin(PhaseName name);
  /// Ends the last phase and fills the totals of `statistics`.
  void finish(Statistics& statistics);

private:
  void end();
  rsp::Counters counters() const { return costs_ ? costs_() : rsp::Counters{}; }

  std::function<rsp::Counters()> costs_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point phase_start_ = start_;
  rsp::Counters phase_counters_;
  std::optional<PhaseName> current_;
  std::vector<Phase> phases_;
};

} // namespace mqbridge
