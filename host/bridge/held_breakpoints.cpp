#include "host/bridge/held_breakpoints.h"

#include "host/bridge/requests.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// "z0,401136,1" of "Z0,401136,1;X3,220027": without conditions and commands.
std::string removal_of(std::string_view packet) {
  std::string removal(packet.substr(0, packet.find(';')));
  removal.front() = 'z';
  return removal;
}

/// A breakpoint that was written, as opposed to one that the stub was told of (Z0).
bool is_written(const std::string& removal) {
  return removal.starts_with('M');
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
  // The guardian knows first: to take out one that is not in, and to write the bytes that are
  // there, does no harm.
  if (in_[process_].try_emplace(removal).second && !(hides_written_ && is_written(removal)))
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

/// Of "M401136,1:cc", or the same as `X`, whose data is no digits.
std::optional<HeldBreakpoints::Written> HeldBreakpoints::parse_write(std::string_view packet) {
  const auto colon = packet.find(':');
  if (colon == packet.npos)
    return std::nullopt;
  const auto numbers = parse_two_numbers(packet.substr(1, colon - 1));
  const auto data = packet.substr(colon + 1);
  std::string bytes = packet.front() == 'M' ? std::string(data) : rsp::encode_hex(data);
  if (!numbers || numbers->second == 0 || bytes.size() != 2 * numbers->second)
    return std::nullopt;
  return Written{numbers->first, std::move(bytes)};
}

bool HeldBreakpoints::is_trap(const std::string& packet, std::span<const std::string_view> traps) {
  const auto written = parse_write(packet);
  return written && std::ranges::any_of(traps, [&](std::string_view trap) {
           return rsp::encode_hex(trap) == written->bytes;
         });
}

Result<std::string> HeldBreakpoints::write(const std::string& packet,
                                           std::span<const std::string_view> traps) {
  const auto written = parse_write(packet);
  auto reply = is_trap(packet, traps) ? put_in_by_writing(packet, *written) : stub_.request(packet);
  if (reply && *reply == "OK" && written)
    replace(*written);
  return reply;
}

Result<std::string> HeldBreakpoints::put_in_by_writing(const std::string& packet,
                                                       const Written& trap) {
  const auto size = trap.bytes.size() / 2;
  auto before = stub_.request(fmt::format("m{:x},{:x}", trap.address, size));
  if (!before)
    return before;
  if (before->size() != trap.bytes.size() || *before == trap.bytes)
    return stub_.request(packet);
  const std::string removal = fmt::format("M{:x},{:x}:{}", trap.address, size, *before);
  add(removal);
  auto reply = stub_.request(packet);
  if (reply && *reply == "OK")
    in_[process_][removal].packet = packet;
  else if (reply)
    drop(in_[process_], removal);
  return reply;
}

/// Breakpoints that were written over are not in any more.
void HeldBreakpoints::replace(const Written& written) {
  auto& breakpoints = in_[process_];
  std::vector<std::string> gone;
  for (const auto& [removal, breakpoint] : breakpoints) {
    const auto trap = is_written(removal) ? parse_write(breakpoint.packet) : std::nullopt;
    if (!trap || trap->end() <= written.address || written.end() <= trap->address)
      continue;
    const bool is_whole = written.address <= trap->address && trap->end() <= written.end();
    const auto at = 2 * (trap->address - written.address);
    if (!is_whole || written.bytes.compare(at, trap->bytes.size(), trap->bytes) != 0)
      gone.push_back(removal);
  }
  for (const std::string& removal : gone)
    drop(breakpoints, removal);
}

void HeldBreakpoints::hide_written(bool several) {
  if (std::exchange(hides_written_, several) == several)
    return;
  for (const auto& [process, breakpoints] : in_)
    for (const auto& [removal, breakpoint] : breakpoints)
      if (is_written(removal) && several)
        stub_.holds().drop_detach_packet(removal);
      else if (is_written(removal))
        stub_.holds().add_packet_before_detach(removal);
}

void HeldBreakpoints::inherit(const std::string& parent, const std::string& child) {
  for (const auto& [removal, breakpoint] : OfProcess(in_[parent]))
    if (is_written(removal))
      in_[child].emplace(removal, breakpoint);
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
    if (breakpoints.empty())
      continue;
    if (!process.empty() && (process != process_ || in_.size() > 1)) {
      const auto selected = stub_.request("Hg" + process + ".0");
      if (!selected)
        return Failure(selected.error());
      if (*selected != "OK") // what is written would meet another one
        continue;
    }
    const auto removals = standing(breakpoints);
    if (!removals)
      return Failure(removals.error());
    if (auto out = take_out(breakpoints, *removals); !out)
      return out;
  }
  return {};
}

/// The packets that take them out. Where a trap that was written is not there any more, the memory
/// may be that of another library.
Result<std::vector<std::string>> HeldBreakpoints::standing(const OfProcess& breakpoints) {
  std::vector<std::string> removals;
  for (const auto& [removal, breakpoint] : breakpoints) {
    if (is_written(removal)) {
      const auto trap = parse_write(breakpoint.packet);
      const auto now = stub_.request("m" + removal.substr(1, removal.find(':') - 1));
      if (!now)
        return Failure(now.error());
      if (!trap || *now != trap->bytes)
        continue;
    }
    removals.push_back(removal);
  }
  return removals;
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
