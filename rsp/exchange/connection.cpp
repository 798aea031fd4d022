#include "rsp/exchange/connection.h"

#include <algorithm>
#include <utility>

namespace mqbridge::rsp {

Connection::Connection(std::unique_ptr<Transport> transport, ConnectionOptions options)
    : link_(std::move(transport), std::move(options.name), options.trace, *options.policy),
      limits_(options.silence_timeout), holds_(options.watch) {
  link_.count_round_trip(); // connecting
  // On a slow link a stub seems silent while its requests are still on their way.
  if (const LinkLimits slow = link(); slow.bytes_per_second != 0) {
    limits_.add_silence(std::chrono::milliseconds(1000 * slow.send_buffer / slow.bytes_per_second));
    constexpr double digits_per_byte = 2;
    meter_.expect_rate(static_cast<double>(slow.bytes_per_second) / digits_per_byte);
  }
}

Result<void> Connection::begin() {
  auto stray = dialogue_.begin();
  if (!stray)
    return forward(std::move(stray));
  if (*stray)
    padded_.stray();
  return {};
}

Result<std::string> Connection::request_once(std::string_view payload) {
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  const bool alone = !pairing_.owes();
  if (auto asked = dialogue_.ask(payload); !asked)
    return forward(std::move(asked));
  const auto begun = Clock::now();
  link_.flush();
  ReplyWait wait(payload, limits_.silence());
  auto reply = dialogue_.reply(wait);
  if (!reply)
    return forward(std::move(reply));
  // On a slow link even a short reply takes its time.
  constexpr std::size_t longest_slow_reply = 64;
  const bool is_slow = link().bytes_per_second != 0;
  if (alone && reply->size() <= (is_slow ? longest_slow_reply : longest_short_reply))
    meter_.round_trip(link_.heard().last - begun);
  return std::string(*reply);
}

Result<std::string> Connection::resume(std::string_view payload, RunWatcher* watcher,
                                       std::span<Exchange> before) {
  if (!no_ack()) {
    for (auto& [packet, answer] : std::exchange(before, {})) {
      auto reply = request(packet);
      if (!reply)
        return reply;
      answer = std::move(*reply);
    }
  }
  // If a stop reply came twice, the second one would be taken for a stop of the running target.
  if (auto sure = confirm_step(); !sure)
    return forward(std::move(sure));
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  for (const Exchange& exchange : before)
    if (auto asked = dialogue_.ask(exchange.packet); !asked)
      return forward(std::move(asked));
  holds_.about_to_run();
  if (auto asked = dialogue_.ask(payload); !asked)
    return forward(std::move(asked));
  holds_.runs();
  link_.flush();
  for (auto& [packet, answer] : before) {
    ReplyWait wait(packet, limits_.silence());
    const auto reply = dialogue_.reply(wait);
    if (!reply)
      return Failure(reply.error());
    answer = *reply;
  }
  ReplyWait wait(payload, limits_.silence());
  wait.unlimited = true;
  wait.watcher = watcher;
  const auto reply = dialogue_.reply(wait);
  if (!reply)
    return Failure(reply.error());
  holds_.stopped();
  return std::string(*reply);
}

Result<void> Connection::resume_and_leave(std::string_view payload,
                                          std::chrono::milliseconds limit) {
  if (auto ready = begin(); !ready)
    return ready;
  if (auto asked = dialogue_.ask(payload); !asked)
    return asked;
  holds_.runs();
  link_.flush();
  // Closing while an acknowledgement is on its way resets the connection; QEMU's process then ends
  // by SIGPIPE when QEMU sends its next packet.
  const auto until = Clock::now() + limit;
  for (bool acked = false; !acked && Clock::now() < until;) {
    if (link_.receive(until).kind == Received::Kind::closed)
      break;
    while (const auto event = link_.next())
      acked |= event->kind == Decoder::Kind::ack;
  }
  return {};
}

Result<void> Connection::tell(std::string_view payload) {
  if (auto ready = begin(); !ready)
    return ready;
  auto queued = link_.queue_request(payload);
  link_.flush();
  return queued;
}

void Connection::released() {
  if (!holds_.taken_over()) // else the guardian still uses the connection
    link_.transport().released();
  holds_.forget();
}

ExchangeLimits::Exemption Connection::exempt(std::string_view farewell,
                                             std::chrono::milliseconds limit) {
  const bool first = holds_.begin_farewell(farewell);
  return limits_.exempt(Clock::now() + (first ? limit : std::chrono::milliseconds(0)));
}

void Connection::set_deadline(std::optional<Clock::time_point> deadline) {
  limits_.set_deadline(deadline);
  wake();
}

void Connection::wake() {
  link_.transport().wake();
}

void Connection::cancel() {
  limits_.cancel();
  wake();
}

Result<void> Connection::resynchronise(std::optional<std::chrono::milliseconds> limit) {
  if (running())
    return link_.failure("target.running", "the target runs: nothing may be asked now", "");
  const auto is_answer = [mute = pairing_.mute()](std::string_view reply) {
    return mute ? reply.empty() : is_step_answer(reply);
  };
  return steps_.find({std::string(step_question), is_answer},
                     limit.value_or(std::chrono::milliseconds::max()));
}

void Connection::pad_bursts(std::string marker, std::string marker_reply) {
  padded_.start({std::move(marker), [answer = std::move(marker_reply)](std::string_view reply) {
                   return reply == answer;
                 }});
}

} // namespace mqbridge::rsp
