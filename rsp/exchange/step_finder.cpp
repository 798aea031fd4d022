#include "rsp/exchange/step_finder.h"

#include "rsp/codes.h"
#include "rsp/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

using std::chrono::milliseconds;

// Silence after which a stub out of step counts as waiting. It is longer than a round trip nearly
// everywhere, and is doubled each time it was not long enough.
constexpr milliseconds first_pause{100};

} // namespace

Result<void> StepFinder::find(const Marker& marker, milliseconds limit) {
  const std::chrono::duration<double> round_trip(meter_.estimate().round_trip);
  milliseconds pause = std::max(first_pause, std::chrono::ceil<milliseconds>(2 * round_trip));
  const auto begun = Clock::now();
  const auto give_up =
      limit == milliseconds::max() ? Clock::time_point::max() : begun + std::max(limit, 3 * pause);
  // There is time for one attempt in any case.
  const auto last_attempt = begun + std::max(std::min(limit, limits_.silence()), 3 * pause);
  for (int attempt = 0; attempt < limits::resynchronisations && Clock::now() < last_attempt;
       ++attempt, pause *= 2) {
    if (auto quiet = discard_until_quiet(marker, pause, give_up); !quiet)
      return quiet;
    auto found = marker_is_next(marker, pause, give_up);
    if (!found)
      return forward(std::move(found));
    if (*found) {
      pairing_.in_step();
      return {};
    }
  }
  return link_.failure(
      codes::stub_garbage,
      fmt::format("the stub has lost count of its replies, and '{}' does not bring it back",
                  marker.question),
      "what passes the bytes on between here and the stub damages them: connect without it; "
      "--trace FILE shows every packet");
}

/// Discards what comes, until the stub is quiet or `give_up` has come. A stub that waits for a `+`
/// gets it.
Result<void> StepFinder::discard_until_quiet(const Marker& marker, milliseconds pause,
                                             Clock::time_point give_up) {
  if (!link_.no_ack())
    link_.queue_ack();
  link_.flush();
  ReplyWait wait("the rest of a burst", limits_.silence());
  auto quiet_at = Clock::now() + pause;
  while (Clock::now() < std::min(quiet_at, give_up)) {
    const auto more = dialogue_.receive(wait, std::min(quiet_at, give_up));
    if (!more)
      return Failure(more.error());
    if (*more) {
      take_marker(marker);
      quiet_at = Clock::now() + pause;
    }
  }
  return {};
}

/// Asks for the marker once. True: its answer came, behind whatever else was on its way.
Result<bool> StepFinder::marker_is_next(const Marker& marker, milliseconds pause,
                                        Clock::time_point give_up) {
  pairing_.owes_nothing();
  if (auto asked = dialogue_.ask(marker.question); !asked)
    return forward(std::move(asked));
  link_.flush();
  ReplyWait wait(marker.question, limits_.silence());
  const auto end = std::min(Clock::now() + 2 * pause, give_up);
  while (Clock::now() < end) {
    const auto more = dialogue_.receive(wait, end);
    if (!more)
      return Failure(more.error());
    if (take_marker(marker))
      return true;
  }
  return false;
}

/// Acknowledges and drops the packets that have come. True: the last one was the marker's answer.
bool StepFinder::take_marker(const Marker& marker) {
  bool is_last = false;
  while (const auto event = link_.next()) {
    if (event->kind != Decoder::Kind::packet)
      continue;
    if (!link_.no_ack())
      link_.queue_ack();
    is_last = marker.is_answer(event->bytes);
  }
  link_.flush();
  return is_last;
}

} // namespace mqbridge::rsp
