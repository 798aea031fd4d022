#include "rsp/exchange/burst_measure.h"
#include "rsp/exchange/burst_window.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/seconds.h"

namespace mqbridge::rsp {
namespace {

/// A burst whose requests are all known from the start, and whose replies are all kept.
class Kept final : public Burst {
public:
  Kept(std::span<const std::string> payloads, std::optional<StepCheck> check)
      : payloads_(payloads), check_(check) {
    replies_.reserve(payloads.size());
  }
  bool next(std::string& payload) override {
    if (sent_ == payloads_.size())
      return check_ && check_->next(payload);
    payload = payloads_[sent_++];
    return true;
  }
  Result<void> take(std::string_view reply) override {
    if (replies_.size() == payloads_.size())
      return check_->take(reply);
    replies_.emplace_back(reply);
    return {};
  }
  std::vector<std::string> replies() && { return std::move(replies_); }
  const std::optional<StepCheck>& check() const { return check_; }
  bool unpaired() const { return check_ && check_->failed(); }

private:
  std::span<const std::string> payloads_;
  std::optional<StepCheck> check_;
  std::size_t sent_ = 0;
  std::vector<std::string> replies_;
};

} // namespace

Result<std::vector<std::string>> Connection::burst(std::span<const std::string> payloads) {
  if (auto in_step = get_into_step(); !in_step)
    return forward(std::move(in_step));
  for (int attempt = 1;; ++attempt) {
    Kept kept(payloads, step_check());
    auto exchanged = exchange(kept);
    if (!exchanged && !kept.unpaired())
      return forward(std::move(exchanged));
    auto counts = settle(payloads, exchanged && !in_doubt(), attempt);
    if (!counts)
      return forward(std::move(counts));
    if (!*counts)
      continue;
    if (kept.check())
      passed(*kept.check());
    return std::move(kept).replies();
  }
}

Result<void> Connection::stream(Burst& burst) {
  if (pairing_.out_of_step()) {
    if (auto in_step = resynchronise(); !in_step)
      return in_step;
  }
  return exchange(burst);
}

Result<void> Connection::exchange(Burst& burst) {
  if (auto ready = begin(); !ready)
    return ready;
  if (no_ack())
    return pipeline(burst);
  return padded_.works() ? send_padded(burst) : send_singly(burst);
}

Result<void> Connection::send_singly(Burst& burst) {
  const auto received_before = counters().bytes_received;
  BurstMeasure measure(meter_, Clock::now());
  for (std::string payload; burst.next(payload); payload.clear()) {
    auto reply = dialogue_.exchange(payload);
    if (!reply) {
      link_.flush();
      return forward(std::move(reply));
    }
    measure.replied(link_.heard().last, data_asked_for(payload));
    if (auto taken = burst.take(*reply); !taken) {
      link_.flush();
      return taken;
    }
  }
  link_.flush();
  measure.finish(LinkMeter::Manner::in_turn, counters().bytes_received - received_before);
  return {};
}

/// Sends the requests in groups. If padding does not work (any more), they go one at a time.
Result<void> Connection::send_padded(Burst& burst) {
  constexpr std::size_t group = 256;
  while (true) {
    std::vector<std::string> payloads;
    for (std::string payload; payloads.size() < group && burst.next(payload); payload.clear())
      payloads.push_back(payload);
    if (payloads.empty())
      return {};
    if (auto sent = send_group(payloads, burst); !sent)
      return sent;
  }
}

Result<void> Connection::send_group(std::span<const std::string> payloads, Burst& burst) {
  const auto received_before = counters().bytes_received;
  BurstMeasure measure(meter_, Clock::now());
  std::vector<std::string> replies;
  if (auto sent = padded_.send(payloads, replies); !sent)
    return sent;
  for (std::size_t i = replies.size(); i < payloads.size(); ++i) {
    auto reply = dialogue_.exchange(payloads[i]);
    if (!reply) {
      link_.flush();
      return forward(std::move(reply));
    }
    replies.emplace_back(*reply);
  }
  link_.flush();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    measure.replied(link_.heard().last, data_asked_for(payloads[i]));
    if (auto taken = burst.take(replies[i]); !taken)
      return taken;
  }
  measure.finish(LinkMeter::Manner::in_turn, counters().bytes_received - received_before);
  return {};
}

Result<void> Connection::pipeline(Burst& burst) {
  BurstWindow window(link());
  const double round_trip = meter_.estimate().round_trip;
  window.set_rate(meter_.drain_rate(), round_trip);
  const bool alone = !pairing_.owes();
  const auto received_before = counters().bytes_received;
  const auto received = [&] { return counters().bytes_received - received_before; };
  BurstMeasure measure(meter_, Clock::now());
  const std::function<Result<void>()> ask_more = [&] { return fill(window, burst); };
  while (true) {
    if (auto filled = fill(window, burst); !filled)
      return filled;
    if (window.empty())
      break;
    ReplyWait wait(window.oldest(), limits_.silence());
    wait.when_woken = &ask_more; // of a burst whose requests come from elsewhere
    auto reply = dialogue_.reply(wait);
    if (!reply)
      return forward(std::move(reply));
    const auto arrived = link_.heard().last;
    const bool is_marker = is_step_question(window.oldest()); // a marker tells nothing about reads
    const auto answered = window.answered(*reply);
    if (!is_marker)
      measure.replied(arrived, answered.data);
    if (measure.drained(arrived, answered.expected, received()))
      window.set_rate(meter_.drain_rate(), round_trip);
    if (auto taken = burst.take(*reply); !taken)
      return taken;
  }
  if (alone)
    measure.finish(LinkMeter::Manner::pipelined, received());
  return {};
}

Result<void> Connection::fill(BurstWindow& window, Burst& burst) {
  if (const auto left = limits_.time_left(Clock::now()))
    window.leave_within(in_seconds(*left), meter_.arrival_rate());
  if (!window.wants_more())
    return {};
  for (std::string payload; window.open() && burst.next(payload); payload.clear()) {
    if (auto asked = dialogue_.ask(payload); !asked) {
      link_.flush();
      return asked;
    }
    window.sent(payload);
  }
  link_.flush();
  return {};
}

} // namespace mqbridge::rsp
