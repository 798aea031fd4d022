#include "host/bridge/held_breakpoints.h"

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
  const auto known = in_.find(removal);
  if (packet.front() == 'z') {
    if (known == in_.end())
      return stub_.request(packet);
    leaving_.insert(removal);
    return "OK";
  }
  if (known != in_.end() && known->second == packet && leaving_.erase(removal) > 0)
    return "OK";
  return put_in(packet, removal);
}

Result<std::string> HeldBreakpoints::put_in(const std::string& packet, const std::string& removal) {
  // With other conditions, it is another one.
  if (leaving_.contains(removal))
    if (auto out = take_out({removal}); !out)
      return forward(std::move(out));
  // The guardian knows first: to take out one that is not in does no harm.
  const bool is_new = in_.try_emplace(removal, packet).second;
  if (is_new)
    stub_.holds().add_packet_before_detach(removal);
  auto reply = stub_.request(packet);
  if (reply && *reply == "OK") {
    in_[removal] = packet;
  } else if (reply && is_new) {
    in_.erase(removal);
    stub_.holds().drop_detach_packet(removal);
  }
  return reply;
}

Result<void> HeldBreakpoints::settle() {
  return take_out({leaving_.begin(), leaving_.end()});
}

Result<void> HeldBreakpoints::take_out_all() {
  std::vector<std::string> removals;
  for (const auto& [removal, packet] : in_)
    removals.push_back(removal);
  return take_out(removals);
}

Result<void> HeldBreakpoints::take_out(const std::vector<std::string>& removals) {
  if (removals.empty())
    return {};
  const auto replies = stub_.burst(removals);
  if (!replies)
    return Failure(replies.error());
  for (const std::string& removal : removals) {
    in_.erase(removal);
    leaving_.erase(removal);
    stub_.holds().drop_detach_packet(removal);
  }
  return {};
}

void HeldBreakpoints::forget() {
  for (const auto& [removal, packet] : in_)
    stub_.holds().drop_detach_packet(removal);
  in_.clear();
  leaving_.clear();
}

} // namespace mqbridge
