#include "host/dump/rank/phase_clock.h"

#include "host/dump/values/times.h"

#include <algorithm>
#include <utility>

namespace mqbridge {

void PhaseClock::begin(PhaseName name) {
  end();
  current_ = name;
  phase_start_ = Clock::now();
  phase_counters_ = counters();
}

void PhaseClock::end() {
  if (!current_)
    return;
  const auto now = counters();
  const auto name = *std::exchange(current_, std::nullopt);
  auto known = std::ranges::find(phases_, name, &Phase::name);
  if (known == phases_.end())
    known = phases_.insert(known, {name});
  known->elapsed_ms += milliseconds(Clock::now() - phase_start_);
  known->round_trips += now.round_trips - phase_counters_.round_trips;
  known->bytes += now.bytes_received - phase_counters_.bytes_received;
}

void PhaseClock::finish(Statistics& statistics) {
  end();
  const auto total = counters();
  statistics.round_trips = total.round_trips;
  statistics.requests = total.requests;
  statistics.bytes_sent = total.bytes_sent;
  statistics.bytes_received = total.bytes_received;
  statistics.elapsed_ms = milliseconds(Clock::now() - start_);
  statistics.phases = std::move(phases_);
}

} // namespace mqbridge
