#include "host/bridge/written_breakpoints.h"

#include "host/bridge/requests.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

struct Written {
  std::uint64_t address = 0;
  std::string bytes; ///< as digits
};

std::uint64_t end_of(std::uint64_t address, const std::string& bytes) {
  return address + bytes.size() / 2;
}

/// Of "M401136,1:cc", or the same as `X`, whose data is no digits.
std::optional<Written> parse_write(std::string_view packet) {
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

std::string read_packet(std::uint64_t address, const std::string& bytes) {
  return fmt::format("m{:x},{:x}", address, bytes.size() / 2);
}

/// The packet that writes them.
std::string removal_of(std::uint64_t address, const std::string& before) {
  return fmt::format("M{:x},{:x}:{}", address, before.size() / 2, before);
}

} // namespace

bool WrittenBreakpoints::is_trap(std::string_view packet, std::span<const std::string_view> traps) {
  const auto written = parse_write(packet);
  return written && std::ranges::any_of(traps, [&](std::string_view trap) {
           return rsp::encode_hex(trap) == written->bytes;
         });
}

Result<std::string> WrittenBreakpoints::write(const std::string& packet, const std::string& process,
                                              std::span<const std::string_view> traps) {
  auto reply = is_trap(packet, traps) ? put_in(packet, process) : stub_.request(packet);
  const auto written = parse_write(packet);
  if (!reply || *reply != "OK" || !written)
    return reply;
  // Those that were written over are not in any more.
  const auto end = end_of(written->address, written->bytes);
  for (const auto& [address, trap] : OfProcess(in_[process])) {
    if (end_of(address, trap.bytes) <= written->address || end <= address)
      continue;
    const bool is_whole = written->address <= address && end_of(address, trap.bytes) <= end;
    const auto at = 2 * (address - written->address);
    if (!is_whole || written->bytes.compare(at, trap.bytes.size(), trap.bytes) != 0)
      drop(process, address);
  }
  return reply;
}

Result<std::string> WrittenBreakpoints::put_in(const std::string& packet,
                                               const std::string& process) {
  const auto [address, trap] = *parse_write(packet);
  auto before = stub_.request(read_packet(address, trap));
  if (!before)
    return before;
  if (before->size() != trap.size() || *before == trap)
    return stub_.request(packet);
  // The guardian knows first: to write the bytes that are there does no harm.
  tell_guardian(removal_of(address, *before));
  in_[process][address] = {trap, std::move(*before)};
  auto reply = stub_.request(packet);
  if (reply && *reply != "OK")
    drop(process, address);
  return reply;
}

void WrittenBreakpoints::tell_guardian(const std::string& removal) {
  if (has_several_)
    return;
  stub_.holds().drop_detach_packet(removal); // once is enough
  stub_.holds().add_packet_before_detach(removal);
}

void WrittenBreakpoints::drop(const std::string& process, std::uint64_t address) {
  const auto trap = in_[process].extract(address);
  const auto has_it = [&](const auto& of) {
    const auto other = of.second.find(address);
    return other != of.second.end() && other->second.before == trap.mapped().before;
  };
  if (std::ranges::none_of(in_, has_it))
    stub_.holds().drop_detach_packet(removal_of(address, trap.mapped().before));
}

void WrittenBreakpoints::inherit(const std::string& parent, const std::string& child) {
  const OfProcess traps = in_[parent];
  in_[child].insert(traps.begin(), traps.end());
}

void WrittenBreakpoints::set_several(bool several) {
  if (std::exchange(has_several_, several) == several)
    return;
  for (const auto& [process, traps] : in_)
    for (const auto& [address, trap] : traps)
      if (const std::string removal = removal_of(address, trap.before); several)
        stub_.holds().drop_detach_packet(removal);
      else
        tell_guardian(removal);
}

bool WrittenBreakpoints::any() const {
  return std::ranges::any_of(in_, [](const auto& of) { return !of.second.empty(); });
}

Result<void> WrittenBreakpoints::take_out_all() {
  for (const auto& [process, traps] : in_) {
    if (traps.empty())
      continue;
    const auto selected =
        has_several_ ? stub_.request("Hg" + process + ".0") : Result<std::string>("OK");
    if (!selected)
      return Failure(selected.error());
    if (*selected != "OK") // they would meet another one
      continue;
    if (auto out = take_out(traps); !out)
      return out;
  }
  forget();
  return {};
}

Result<void> WrittenBreakpoints::take_out(const OfProcess& traps) {
  std::vector<std::string> packets;
  for (const auto& [address, trap] : traps)
    packets.push_back(read_packet(address, trap.bytes));
  const auto now = stub_.burst(packets);
  if (!now)
    return Failure(now.error());
  packets.clear();
  auto bytes = now->begin();
  for (const auto& [address, trap] : traps)
    if (*bytes++ == trap.bytes)
      packets.push_back(removal_of(address, trap.before));
  const auto written = stub_.burst(packets);
  return written ? Result<void>() : Failure(written.error());
}

void WrittenBreakpoints::forget(const std::string& process) {
  for (const auto& [address, trap] : OfProcess(in_[process]))
    drop(process, address);
  in_.erase(process);
}

void WrittenBreakpoints::forget() {
  while (!in_.empty())
    forget(std::string(in_.begin()->first));
}

} // namespace mqbridge
