#include "rsp/exchange/burst_window.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace mqbridge::rsp {
namespace {

// Reply bytes that may be outstanding in a burst while nothing is known of the link. They last for
// 40 ms at 100 MB/s, and are few enough to be waited for when the burst is given up.
constexpr std::size_t first_window = std::size_t{4} << 20;
// Bytes that keep a stub busy while we do something else; 50 ms at 300 MB/s hold as many.
constexpr std::size_t smallest_window = std::size_t{1} << 20;
constexpr std::size_t largest_window = std::size_t{16} << 20;
constexpr std::size_t window_requests = 4096;
/// Bytes to ask for on a link whose rate is unknown: enough to measure it.
constexpr std::size_t unknown_link = std::size_t{256} << 10;
constexpr std::size_t frame_overhead = 4; // $, # and the checksum

// The window is always smaller than what a socket takes in one send (min_send_buffer).
std::size_t request_window(const LinkLimits& link) {
  return link.send_buffer / 4;
}

/// Twice the bytes that are on their way when the stub never waits.
std::size_t reply_window(std::size_t rate, double round_trip) {
  constexpr std::size_t always = std::size_t{64} << 10;
  if (rate == 0)
    return first_window;
  const auto on_its_way = static_cast<std::size_t>(static_cast<double>(rate) * round_trip);
  const std::size_t wanted = std::clamp(2 * on_its_way, smallest_window, largest_window);
  return std::max(std::min(wanted, rate), always);
}

std::size_t hex_field(std::string_view list, std::size_t index) {
  for (; index > 0; --index) {
    const auto comma = list.find(',');
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  std::size_t value = 0;
  std::from_chars(list.data(), list.data() + list.size(), value, 16);
  return std::min(value, largest_window);
}

/// The sum of the ranges' lengths; a length is every second number of the list.
std::size_t lengths_of(std::string_view ranges) {
  std::size_t total = 0;
  for (auto comma = ranges.find(','); comma != std::string_view::npos; comma = ranges.find(',')) {
    ranges.remove_prefix(comma + 1);
    total += hex_field(ranges, 0);
    ranges.remove_prefix(std::min(ranges.find(','), ranges.size() - 1) + 1);
  }
  return total;
}

/// How many bytes the reply may have: at most for reads, roughly for other requests.
std::size_t reply_estimate(std::string_view request, std::size_t data) {
  constexpr std::size_t overhead = 64;
  constexpr std::size_t other = 1024;
  if (data == 0)
    return other;
  return overhead + (request.starts_with('m') ? 2 * data : data);
}

/// How many bytes of memory or of a file `reply` holds, roughly.
std::size_t data_in(std::string_view request, std::string_view reply, std::size_t asked_for) {
  return std::min(asked_for, request.starts_with('m') ? reply.size() / 2 : reply.size());
}

} // namespace

std::size_t data_asked_for(std::string_view request) {
  constexpr std::string_view ranges = "MultiMemRead:ranges:";
  if (request.starts_with('m') || request.starts_with('x'))
    return hex_field(request, 1);
  if (request.starts_with("vFile:pread:"))
    return hex_field(request, 1);
  return request.starts_with(ranges) ? lengths_of(request.substr(ranges.size())) : 0;
}

BurstWindow::BurstWindow(const LinkLimits& link)
    : most_requested_(request_window(link)), slow_(link.bytes_per_second) {
  set_rate(0, 0);
}

void BurstWindow::set_rate(std::size_t drain_rate, double round_trip) {
  most_owed_ = reply_window(drain_rate, round_trip);
  if (slow_ != 0)
    most_owed_ = std::min(most_owed_, slow_);
}

void BurstWindow::leave_within(double seconds, double link_rate) {
  constexpr double far = 60; // no window is so long
  if (seconds > far) {
    most_owed_in_time_ = std::numeric_limits<std::size_t>::max();
    return;
  }
  // Until the rate is known, enough is asked for to measure it.
  most_owed_in_time_ =
      link_rate > 0 ? static_cast<std::size_t>(link_rate * std::max(seconds, 0.0)) : unknown_link;
}

bool BurstWindow::open() const {
  return (owed_ < may_owe() || asked_.empty()) && requested_ < most_requested_ &&
         asked_.size() < window_requests;
}

bool BurstWindow::wants_more() const {
  return owed_ <= may_owe() / 4 * 3 && requested_ <= most_requested_ / 4 * 3 &&
         asked_.size() <= window_requests / 4 * 3;
}

void BurstWindow::sent(std::string request) {
  const std::size_t data = data_asked_for(request);
  const std::size_t estimate = reply_estimate(request, data);
  owed_ += estimate;
  requested_ += request.size() + frame_overhead;
  asked_.push_back({std::move(request), estimate, data});
}

BurstWindow::Answered BurstWindow::answered(std::string_view reply) {
  const Asked& asked = asked_.front();
  const Answered answered{asked.estimate, data_in(asked.request, reply, asked.data)};
  owed_ -= asked.estimate;
  requested_ -= asked.request.size() + frame_overhead;
  asked_.pop_front();
  return answered;
}

} // namespace mqbridge::rsp
