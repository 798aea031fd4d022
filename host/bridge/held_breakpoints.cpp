#include "host/bridge/held_breakpoints.h"

#include <algorithm>
#include <cstddef>
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

Result<std::string> HeldBreakpoints::answer(const std::string& packet, bool is_mapped) {
  using State = Breakpoint::State;
  const std::string removal = removal_of(packet);
  auto& breakpoints = in_[process_];
  const auto known = breakpoints.find(removal);
  if (packet.front() == 'z') {
    if (known == breakpoints.end())
      return stub_.request(packet);
    if (known->second.state == State::coming)
      drop(breakpoints, removal);
    else
      known->second.state = State::leaving;
    return "OK";
  }
  if (known != breakpoints.end() && known->second.packet == packet &&
      known->second.state == State::leaving) {
    known->second.state = State::in;
    return "OK";
  }
  if (known == breakpoints.end() && is_mapped && accepted_.contains(packet)) {
    add(removal);
    breakpoints[removal] = {packet, State::coming};
    return "OK";
  }
  return put_in(packet, removal);
}

void HeldBreakpoints::add(const std::string& removal) {
  // The guardian knows first: to take out one that is not in does no harm.
  if (in_[process_].try_emplace(removal).second)
    stub_.holds().add_packet_before_detach(removal);
}

Result<std::string> HeldBreakpoints::put_in(const std::string& packet, const std::string& removal) {
  auto& breakpoints = in_[process_];
  // With other conditions, it is another one.
  if (const auto known = breakpoints.find(removal);
      known != breakpoints.end() && known->second.state != Breakpoint::State::in)
    if (auto settled = settle(); !settled)
      return forward(std::move(settled));
  const bool is_new = !breakpoints.contains(removal);
  add(removal);
  auto reply = stub_.request(packet);
  if (reply && *reply == "OK") {
    breakpoints[removal].packet = packet;
    constexpr std::size_t most = 1000;
    if (accepted_.size() < most)
      accepted_.insert(packet);
  } else if (reply && is_new) {
    drop(breakpoints, removal);
  }
  return reply;
}

std::vector<rsp::Exchange> HeldBreakpoints::unsettled() const {
  std::vector<rsp::Exchange> exchanges;
  if (const auto of_process = in_.find(process_); of_process != in_.end())
    for (const auto& [removal, breakpoint] : of_process->second)
      if (breakpoint.state != Breakpoint::State::in)
        exchanges.push_back(
            {breakpoint.state == Breakpoint::State::leaving ? removal : breakpoint.packet, {}});
  return exchanges;
}

void HeldBreakpoints::settled(std::span<const rsp::Exchange> told) {
  for (const auto& [packet, reply] : told) {
    const bool is_removal = packet.front() == 'z';
    if (!is_removal && reply != "OK")
      refused_.push_back(packet);
    if (is_removal || reply != "OK")
      drop(in_[process_], removal_of(packet));
    else
      in_[process_][removal_of(packet)].state = Breakpoint::State::in;
  }
}

void HeldBreakpoints::forget_coming() {
  for (const auto& [packet, reply] : unsettled())
    if (packet.front() == 'Z')
      drop(in_[process_], removal_of(packet));
}

Result<void> HeldBreakpoints::settle() {
  auto exchanges = unsettled();
  std::vector<std::string> packets;
  packets.reserve(exchanges.size());
  for (const auto& [packet, reply] : exchanges)
    packets.push_back(packet);
  if (packets.empty())
    return {};
  auto replies = stub_.burst(packets);
  if (!replies)
    return Failure(replies.error());
  for (std::size_t i = 0; i < exchanges.size(); ++i)
    exchanges[i].reply = std::move((*replies)[i]);
  settled(exchanges);
  return {};
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
  accepted_.clear();
}

void HeldBreakpoints::forget() {
  for (const auto& [process, breakpoints] : in_)
    for (const auto& [removal, breakpoint] : breakpoints)
      stub_.holds().drop_detach_packet(removal);
  in_.clear();
  accepted_.clear();
}

} // namespace mqbridge
