#include "rsp/link_meter.h"

#include <algorithm>

namespace mqbridge::rsp {
namespace {

/// What a burst has to last and bring to be told from noise.
constexpr double shortest_burst = 200e-6;
constexpr std::size_t fewest_bytes = 4096;
constexpr std::size_t fewest_requests = 8;
/// Bytes a second of a link on which zeros are worth telling apart: 10 Mbit/s, measured generously.
constexpr double slow_wire = 1.6e6;
/// Bytes that take longer than the shortest burst at 10 Mbit/s.
constexpr std::size_t fewest_at_once = 256;
/// What the bursts before count for after one more.
constexpr double fading = 0.85;
/// Requests and bytes that grow together this closely cannot be told apart.
constexpr double collinear = 0.98;
/// Below this many bytes a request, it is the request that costs.
constexpr double small_request = 512;

double seconds(LinkMeter::Duration time) {
  return std::chrono::duration<double>(time).count();
}

} // namespace

void LinkMeter::round_trip(Duration time) {
  round_trips_[round_trip_count_++ % kept] = std::max(seconds(time), 0.0);
}

void LinkMeter::burst(std::size_t requests, std::size_t bytes, Duration time) {
  const double took = seconds(time);
  if (took < shortest_burst || (bytes < fewest_bytes && requests < fewest_requests))
    return;
  // Relative to its time: a long burst is measured as well as a short one, not better.
  const double n = static_cast<double>(requests) / took;
  const double b = static_cast<double>(bytes) / took;
  requests_requests_ = fading * requests_requests_ + n * n;
  requests_bytes_ = fading * requests_bytes_ + n * b;
  bytes_bytes_ = fading * bytes_bytes_ + b * b;
  requests_time_ = fading * requests_time_ + n;
  bytes_time_ = fading * bytes_time_ + b;
}

void LinkMeter::came(std::size_t received, std::size_t bytes, Duration time) {
  constexpr std::size_t digits_per_byte = 2;
  if (received < fewest_at_once)
    return;
  const double took = seconds(time);
  if (took >= shortest_burst)
    wire_rate_ = std::max(static_cast<double>(received) / took, fading * wire_rate_);
  else
    least_rate_ =
        std::max(least_rate_,
                 static_cast<double>(std::max(bytes, received / digits_per_byte)) / shortest_burst);
}

LinkMeter::Slopes LinkMeter::slopes() const {
  const Slopes by_bytes{0, bytes_bytes_ > 0 ? bytes_time_ / bytes_bytes_ : 0};
  const Slopes by_requests{requests_requests_ > 0 ? requests_time_ / requests_requests_ : 0, 0};
  const bool small = requests_bytes_ < small_request * requests_requests_;
  const double product = requests_requests_ * bytes_bytes_;
  if (requests_bytes_ * requests_bytes_ >= collinear * product)
    return small ? by_requests : by_bytes;
  const double determinant = product - requests_bytes_ * requests_bytes_;
  const Slopes both{(requests_time_ * bytes_bytes_ - bytes_time_ * requests_bytes_) / determinant,
                    (bytes_time_ * requests_requests_ - requests_time_ * requests_bytes_) /
                        determinant};
  if (both.per_request < 0)
    return by_bytes;
  return both.per_byte < 0 ? by_requests : both;
}

LinkEstimate LinkMeter::estimate() const {
  const Slopes known = slopes();
  LinkEstimate estimate;
  estimate.round_trip = shortest();
  estimate.per_request = known.per_request;
  // Where bytes seem to cost nothing they came as fast as this at least: a link of which nothing is
  // known is one on which nothing is read ahead.
  const double came = bytes_time_ > 0 ? bytes_bytes_ / bytes_time_ : least_rate_;
  estimate.bytes_per_second =
      known.per_byte > 0 ? 1 / known.per_byte : expected_rate_.value_or(came);
  if (wire_rate_ > 0 && wire_rate_ <= slow_wire)
    estimate.bytes_per_second = std::min(estimate.bytes_per_second, wire_rate_);
  return estimate;
}

double LinkMeter::shortest() const {
  const auto end =
      round_trips_.begin() + static_cast<std::ptrdiff_t>(std::min(round_trip_count_, kept));
  return end == round_trips_.begin() ? 0 : *std::min_element(round_trips_.begin(), end);
}

} // namespace mqbridge::rsp
