#include "host/dump/rank/phase_clock.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>
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

double milliseconds(PhaseClock::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto fraction = (ms.time_since_epoch() % std::chrono::seconds(1)).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(ms)), fraction);
}

std::optional<std::chrono::system_clock::time_point> parse_rfc3339(const std::string& text) {
  std::tm time{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  unsigned ms = 0;
  if (rest == nullptr || std::sscanf(rest, ".%3uZ", &ms) != 1)
    return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&time)) + std::chrono::milliseconds(ms);
}

} // namespace mqbridge
