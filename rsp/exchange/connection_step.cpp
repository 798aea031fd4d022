#include "rsp/codes.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/connection_wait.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/limits.h"

#include <algorithm>
#include <fmt/format.h>

// How requests and replies are made to pair again, once something came twice, or not at all.

namespace mqbridge::rsp {
namespace {

using std::chrono::milliseconds;

// Silence after which a stub out of step counts as waiting: longer than a round trip nearly
// everywhere, and doubled each time that it was not long enough.
constexpr milliseconds first_pause{100};

} // namespace

Result<void> Connection::resynchronise(std::optional<milliseconds> limit) {
  if (running_)
    return failure("target.running", "the target runs: nothing may be asked now", "");
  const auto is_answer = [mute = mute_](std::string_view reply) {
    return mute ? reply.empty() : is_step_answer(reply);
  };
  return find_back_into_step({std::string(step_question), is_answer},
                             limit.value_or(milliseconds::max()));
}

/// Afterwards the stub owes nothing. `limit`: max() for none but the stub's silence.
Result<void> Connection::find_back_into_step(const Marker& marker, milliseconds limit) {
  const std::chrono::duration<double> round_trip(meter_.estimate().round_trip);
  milliseconds pause = std::max(first_pause, std::chrono::ceil<milliseconds>(2 * round_trip));
  const auto begun = Clock::now();
  const auto give_up =
      limit == milliseconds::max() ? Clock::time_point::max() : begun + std::max(limit, 3 * pause);
  // One in any case.
  const auto last_attempt = begun + std::max(std::min(limit, options_.silence_timeout), 3 * pause);
  for (int attempt = 0; attempt < limits::resynchronisations && Clock::now() < last_attempt;
       ++attempt, pause *= 2) {
    if (auto quiet = discard_until_quiet(marker, pause, give_up); !quiet)
      return quiet;
    auto found = marker_is_next(marker, pause, give_up);
    if (!found)
      return forward(std::move(found));
    if (*found) {
      outstanding_ = stale_ = 0;
      in_doubt_ = out_of_step_ = false;
      return {};
    }
  }
  return failure(codes::stub_garbage,
                 fmt::format("the stub has lost count of its replies, and '{}' does not bring it "
                             "back",
                             marker.question),
                 "what passes the bytes on between here and the stub damages them: connect without "
                 "it; --trace FILE shows every packet");
}

/// A stub that waits for a `+` gets it, until it has nothing more to say, or `give_up` has come.
Result<void> Connection::discard_until_quiet(const Marker& marker, milliseconds pause,
                                             Clock::time_point give_up) {
  if (!no_ack_)
    queue(gate_.ack());
  flush();
  Wait wait("the rest of a burst", options_.silence_timeout);
  auto quiet_at = Clock::now() + pause;
  while (Clock::now() < std::min(quiet_at, give_up)) {
    const auto more = receive_bytes(wait, std::min(quiet_at, give_up));
    if (!more)
      return Failure(more.error());
    if (*more) {
      take_marker(marker);
      quiet_at = Clock::now() + pause;
    }
  }
  return {};
}

/// Asks for the marker once: whether its answer comes, behind whatever else was on its way.
Result<bool> Connection::marker_is_next(const Marker& marker, milliseconds pause,
                                        Clock::time_point give_up) {
  outstanding_ = stale_ = 0;
  if (auto sent = send_packet(marker.question); !sent)
    return forward(std::move(sent));
  flush();
  Wait wait(marker.question, options_.silence_timeout);
  const auto end = std::min(Clock::now() + 2 * pause, give_up);
  while (Clock::now() < end) {
    const auto more = receive_bytes(wait, end);
    if (!more)
      return Failure(more.error());
    if (take_marker(marker))
      return true;
  }
  return false;
}

/// Acknowledges and forgets what has come: whether the marker's answer was the last of it.
bool Connection::take_marker(const Marker& marker) {
  bool is_last = false;
  while (const auto event = decoder_.next()) {
    if (event->kind != Decoder::Kind::packet)
      continue;
    note_packet(event->bytes);
    if (!no_ack_)
      queue(gate_.ack());
    is_last = marker.is_answer(event->bytes);
  }
  flush();
  return is_last;
}

} // namespace mqbridge::rsp
