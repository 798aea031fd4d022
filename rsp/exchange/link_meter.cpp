#include "rsp/exchange/link_meter.h"

#include "rsp/seconds.h"

namespace mqbridge::rsp {
namespace {

/// Seconds. A shorter exchange cannot be told from noise and counts as having taken this long.
constexpr double shortest_measured = 200e-6;
/// Memory bytes that a rate is computed from, at least: a page. A page of zeros is shorter on the
/// link.
constexpr std::size_t fewest_bytes = 4096;
constexpr std::size_t fewest_received = 256;
/// Bytes on the link that take three milliseconds at 10 Mbit/s: so many that an error in the round
/// trip does not matter.
constexpr std::size_t fewest_on_wire = 4096;
/// Bytes a second of a link on which zeros are worth telling apart: 10 Mbit/s, measured generously.
constexpr double slow_wire = 1.6e6;
constexpr double digits_per_byte = 2;
/// With fewer bytes per request than this, the time is that of the request itself.
constexpr double small_request = 512;
constexpr std::size_t fewest_requests = 8;
/// From so many reads of memory on, the other replies add nothing to the estimate.
constexpr std::size_t enough_reads = 4;

} // namespace

void LinkMeter::round_trip(Duration time) {
  round_trips_.add(std::max(in_seconds(time), 0.0));
}

void LinkMeter::exchanged(const Exchange& exchange) {
  if (exchange.requests == 0)
    return;
  // If a long reply came sooner than the short ones did, the short ones had to wait for something.
  if (const auto known = round_trips_.items();
      !known.empty() && in_seconds(exchange.time) < shortest())
    round_trip(exchange.time);
  manner_ = exchange.manner;
  const double beyond = std::max(in_seconds(exchange.time) - shortest(), 0.0);
  const double at_most = std::max(beyond, shortest_measured);
  const auto requests = static_cast<double>(exchange.requests);
  const auto bytes = static_cast<double>(exchange.bytes);
  const auto received = static_cast<double>(exchange.received);
  if (exchange.requests >= fewest_requests && bytes < small_request * requests)
    requests_.add({requests, bytes, received, beyond});
  if (exchange.received >= fewest_on_wire)
    wire_rates_.add(received / at_most);
  // A single request sent in turn does not say how long the next one will wait.
  const bool tells = exchange.manner == Manner::pipelined || exchange.requests > 1;
  const bool is_long = exchange.bytes >= fewest_bytes && exchange.received >= fewest_received;
  // A serial line keeps its stated rate, whatever lay in a buffer.
  const bool is_known = expected_rate_ && beyond < shortest_measured;
  if (tells && is_long && !is_known)
    reads_.add({requests, bytes, received, at_most});
}

void LinkMeter::came(std::size_t received, Duration time) {
  constexpr std::size_t worth_measuring = std::size_t{32} << 10;
  if (received >= worth_measuring && time > Duration::zero())
    arrival_rate_ = static_cast<double>(received) / in_seconds(time);
}

bool LinkMeter::drained(std::size_t expected, Duration time) {
  constexpr std::size_t worth_measuring = std::size_t{256} << 10;
  constexpr std::chrono::microseconds measurable{500};
  if (expected < worth_measuring || time < measurable)
    return false;
  const double rate = static_cast<double>(expected) / in_seconds(time);
  drain_rate_ = std::max(static_cast<std::size_t>(rate), std::size_t{1});
  return true;
}

LinkEstimate LinkMeter::estimate() const {
  LinkEstimate estimate;
  estimate.round_trip = shortest();
  estimate.bytes_per_second = memory_rate();
  estimate.per_request = request_time(estimate.bytes_per_second);
  return estimate;
}

double LinkMeter::shortest() const {
  const auto known = round_trips_.items();
  return known.empty() ? 0 : *std::ranges::min_element(known);
}

double LinkMeter::wire_rate() const {
  const auto wire = wire_rates_.items();
  return wire.empty() ? 0 : *std::ranges::max_element(wire);
}

double LinkMeter::memory_rate() const {
  double rate = 0;
  for (const auto& read : reads_.items())
    rate = std::max(rate, read.rate());
  if (expected_rate_ && rate <= 0)
    return *expected_rate_;
  const double wire = wire_rate();
  if (wire <= 0)
    return rate;
  if (!expected_rate_ && manner_ == Manner::pipelined && reads_.items().size() < enough_reads)
    rate = std::max(rate, wire / digits_per_byte);
  return wire <= slow_wire ? std::min(rate, wire) : rate;
}

/// The time of a request without the time that its bytes need: bytes of memory, or all bytes on the
/// wire. Without the latter, long texts over a slow link would count as the cost of a request.
double LinkMeter::request_time(double bytes_per_second) const {
  std::optional<double> least;
  const double wire = wire_rate();
  for (const auto& each : requests_.items()) {
    const double of_bytes = std::max(bytes_per_second > 0 ? each.bytes / bytes_per_second : 0,
                                     wire > 0 ? each.received / wire : 0);
    const double time = std::max(each.time - of_bytes, 0.0) / each.requests;
    least = std::min(least.value_or(time), time);
  }
  return least.value_or(0);
}

} // namespace mqbridge::rsp
