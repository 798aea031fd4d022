#include "rsp/exchange/burst_window.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/connection_wait.h"
#include "rsp/exchange/step_marker.h"

namespace mqbridge::rsp {
namespace {

/// Requests that are there from the start, and replies that are all kept.
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
  if (out_of_step_) {
    if (auto in_step = resynchronise(); !in_step)
      return in_step;
  }
  return exchange(burst);
}

Result<void> Connection::exchange(Burst& burst) {
  if (auto ready = begin(); !ready)
    return ready;
  if (no_ack_)
    return pipeline(burst);
  return padding_ ? send_padded(burst) : send_singly(burst);
}

Result<void> Connection::send_singly(Burst& burst) {
  const auto received_before = counters_.bytes_received;
  BurstTimer timer(Clock::now());
  for (std::string payload; burst.next(payload); payload.clear()) {
    auto reply = exchange_one(payload);
    if (!reply) {
      flush();
      return forward(std::move(reply));
    }
    timer.replied(arrived_, data_asked_for(payload));
    if (auto taken = burst.take(*reply); !taken) {
      flush();
      return taken;
    }
  }
  flush();
  timer.finish(meter_, LinkMeter::Manner::in_turn, counters_.bytes_received - received_before);
  return {};
}

/// The `+` to the reply leaves with the next request: alone it would cost 40 ms behind a relay with
/// Nagle's algorithm.
Result<std::string_view> Connection::exchange_one(std::string_view payload) {
  if (auto sent = send_packet(payload); !sent)
    return forward(std::move(sent));
  flush();
  Wait wait(payload, options_.silence_timeout);
  wait.defer_ack = true;
  return receive(wait);
}

/// In groups; what padding does not bring (any more) goes one at a time.
Result<void> Connection::send_padded(Burst& burst) {
  constexpr std::size_t group = 256;
  while (true) {
    std::vector<std::string> payloads;
    for (std::string payload; payloads.size() < group && burst.next(payload); payload.clear())
      payloads.push_back(payload);
    if (payloads.empty())
      return {};
    const auto received_before = counters_.bytes_received;
    BurstTimer timer(Clock::now());
    std::vector<std::string> replies;
    if (auto sent = pad(payloads, replies); !sent)
      return sent;
    for (std::size_t i = replies.size(); i < payloads.size(); ++i) {
      auto reply = exchange_one(payloads[i]);
      if (!reply) {
        flush();
        return forward(std::move(reply));
      }
      replies.emplace_back(*reply);
    }
    flush();
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      timer.replied(arrived_, data_asked_for(payloads[i]));
      if (auto taken = burst.take(replies[i]); !taken)
        return taken;
    }
    timer.finish(meter_, LinkMeter::Manner::in_turn, counters_.bytes_received - received_before);
  }
}

Result<void> Connection::pipeline(Burst& burst) {
  BurstWindow window(transport_->limits(), drain_rate_, meter_.estimate().round_trip);
  const bool alone = outstanding_ == 0;
  const auto begun = Clock::now();
  const auto received_before = counters_.bytes_received;
  BurstTimer timer(begun);
  while (true) {
    if (auto filled = fill(window, burst); !filled)
      return filled;
    if (window.empty())
      break;
    Wait wait(window.oldest(), options_.silence_timeout);
    auto reply = receive(wait);
    if (!reply)
      return forward(std::move(reply));
    const bool is_marker = is_step_question(window.oldest()); // says nothing about reads
    const std::size_t data = window.answered(*reply, arrived_);
    if (!is_marker)
      timer.replied(arrived_, data);
    measure_link(counters_.bytes_received - received_before, arrived_ - begun);
    if (auto taken = burst.take(*reply); !taken)
      return taken;
  }
  drain_rate_ = window.drain_rate();
  if (alone)
    timer.finish(meter_, LinkMeter::Manner::pipelined, counters_.bytes_received - received_before);
  return {};
}

/// The round trip counts, too: a rate that is too low does no harm where it is used.
void Connection::measure_link(std::uint64_t bytes, Clock::duration time) {
  constexpr std::uint64_t worth_measuring = std::uint64_t{32} << 10;
  if (bytes >= worth_measuring && time > Clock::duration::zero())
    link_rate_ = static_cast<double>(bytes) / std::chrono::duration<double>(time).count();
}

Result<void> Connection::fill(BurstWindow& window, Burst& burst) {
  if (const auto left = time_left())
    window.leave_within(std::chrono::duration<double>(*left).count(), link_rate_);
  if (!window.wants_more())
    return {};
  for (std::string payload; window.open() && burst.next(payload); payload.clear()) {
    if (auto sent = send_packet(payload); !sent) {
      flush();
      return sent;
    }
    window.sent(payload);
  }
  flush();
  return {};
}

} // namespace mqbridge::rsp
