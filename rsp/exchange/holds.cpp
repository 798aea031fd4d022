#include "rsp/exchange/holds.h"

#include <algorithm>

namespace mqbridge::rsp {

void Holds::add_detach_packet(const std::string& payload) {
  drop_detach_packet(payload);
  detach_packets_.push_back(payload);
  watch_.add_detach_packet(payload);
}

void Holds::add_packet_before_detach(const std::string& payload) {
  const auto later = std::ranges::find_if(
      detach_packets_, [](const std::string& packet) { return packet.starts_with('D'); });
  const std::vector<std::string> last(later, detach_packets_.end());
  detach_packets_.insert(later, payload);
  watch_.add_detach_packet(payload);
  for (const std::string& packet : last)
    watch_.add_detach_packet(packet); // moves it to the end
}

void Holds::drop_detach_packet(const std::string& payload) {
  if (std::erase(detach_packets_, payload) != 0)
    watch_.drop_detach_packet(payload);
  if (farewell_said_ == payload)
    farewell_said_.clear(); // the next process with this number gets its own farewell
}

void Holds::forget() {
  detach_packets_.clear();
  watch_.forget();
}

void Holds::set_closing_releases() {
  closing_releases_ = true;
  watch_.set_manner(guardian::Manner::leave);
}

void Holds::about_to_run() {
  if (!closing_releases_)
    watch_.set_manner(guardian::Manner::wait);
}

void Holds::runs() {
  running_ = true;
  leave_packet_.clear();
}

void Holds::stopped() {
  running_ = false;
  if (!closing_releases_)
    watch_.set_manner(guardian::Manner::detach);
}

bool Holds::begin_farewell(std::string_view packet) {
  const bool again = farewell_said_ == packet;
  farewell_said_ = packet;
  watch_.keep();
  return !again;
}

void Holds::set_guardians_deadline(std::optional<Clock::time_point> deadline) {
  guardians_deadline_ = deadline;
  watch_.set_deadline(deadline);
}

bool Holds::was_late() const {
  const auto taken = taken_over();
  return taken && guardians_deadline_ && *taken >= *guardians_deadline_;
}

} // namespace mqbridge::rsp
