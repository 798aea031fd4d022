#include "host/bridge/held_breakpoints.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

/// "z0,401136,1" of "Z0,401136,1;X3,220027": without conditions and commands.
std::string removal_of(std::string_view packet) {
  std::string removal(packet.substr(0, packet.find(';')));
  removal.front() = 'z';
  return removal;
}

} // namespace

Result<std::string> HeldBreakpoints::answer(const std::string& packet) {
  const std::string removal = removal_of(packet);
  auto& breakpoints = in_[process_];
  const auto known = breakpoints.find(removal);
  if (packet.front() == 'z') {
    if (known == breakpoints.end())
      return stub_.request(packet);
    known->second.is_leaving = true;
    return "OK";
  }
  if (known != breakpoints.end() && known->second.packet == packet &&
      std::exchange(known->second.is_leaving, false))
    return "OK";
  return put_in(packet, removal);
}

Result<std::string> HeldBreakpoints::put_in(const std::string& packet, const std::string& removal) {
  auto& breakpoints = in_[process_];
  // With other conditions, it is another one.
  if (const auto known = breakpoints.find(removal);
      known != breakpoints.end() && known->second.is_leaving)
    if (auto out = take_out(breakpoints, {removal}); !out)
      return forward(std::move(out));
  // The guardian knows first: to take out one that is not in does no harm.
  const bool is_new = breakpoints.try_emplace(removal).second;
  if (is_new)
    stub_.holds().add_packet_before_detach(removal);
  auto reply = stub_.request(packet);
  if (reply && *reply == "OK")
    breakpoints[removal].packet = packet;
  else if (reply && is_new)
    drop(breakpoints, removal);
  return reply;
}

std::vector<std::string> HeldBreakpoints::unsettled() const {
  std::vector<std::string> removals;
  if (const auto of_process = in_.find(process_); of_process != in_.end())
    for (const auto& [removal, breakpoint] : of_process->second)
      if (breakpoint.is_leaving)
        removals.push_back(removal);
  return removals;
}

void HeldBreakpoints::settled(const std::vector<std::string>& removals) {
  for (const std::string& removal : removals)
    drop(in_[process_], removal);
}

Result<void> HeldBreakpoints::settle() {
  return take_out(in_[process_], unsettled());
}

bool HeldBreakpoints::any() const {
  return std::ranges::any_of(in_, [](const auto& of) { return !of.second.empty(); });
}

Result<void> HeldBreakpoints::take_out_all() {
  for (auto& [process, breakpoints] : in_) {
    std::vector<std::string> removals;
    for (const auto& [removal, breakpoint] : breakpoints)
      removals.push_back(removal);
    if (!removals.empty() && !process.empty() && (process != process_ || in_.size() > 1))
      if (auto selected = stub_.request("Hg" + process + ".0"); !selected)
        return forward(std::move(selected));
    if (auto out = take_out(breakpoints, removals); !out)
      return out;
  }
  return {};
}

Result<void> HeldBreakpoints::take_out(OfProcess& breakpoints,
                                       const std::vector<std::string>& removals) {
  if (removals.empty())
    return {};
  const auto replies = stub_.burst(removals);
  if (!replies)
    return Failure(replies.error());
  for (const std::string& removal : removals)
    drop(breakpoints, removal);
  return {};
}

void HeldBreakpoints::drop(OfProcess& breakpoints, const std::string& removal) {
  breakpoints.erase(removal);
  const auto has_it = [&](const auto& of) { return of.second.contains(removal); };
  if (std::ranges::none_of(in_, has_it))
    stub_.holds().drop_detach_packet(removal);
}

void HeldBreakpoints::forget(const std::string& process) {
  auto& breakpoints = in_[process];
  while (!breakpoints.empty())
    drop(breakpoints, std::string(breakpoints.begin()->first));
  in_.erase(process);
}

void HeldBreakpoints::forget() {
  for (const auto& [process, breakpoints] : in_)
    for (const auto& [removal, breakpoint] : breakpoints)
      stub_.holds().drop_detach_packet(removal);
  in_.clear();
}

} // namespace mqbridge
