// Who else looks at the process: guests at the door, and what `monitor mpi` starts.

#include "host/bridge/bridge.h"
#include "host/bridge/monitor_command.h"
#include "host/bridge/requests.h"
#include "rsp/packet/hex.h"
#include "rsp/server/debugger.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mqbridge {
/// A process that is held, and of which it is known how it has stopped.
bool Bridge::stands_still() const {
  return !farewells().empty() && !for_guests_.stop.empty() && !asks_for_files_;
}

/// Answers who looks, if there is one, or else lets one in.
Result<void> Bridge::attend(bool admits, const std::function<bool()>& is_over) {
  if (!guest_ && admits) {
    auto client = door_.take();
    if (!client)
      return {};
    if (auto settled = breakpoints_.settle(); !settled)
      return settled;
    for_guests_.root = files_.root();
    for_guests_.has_breakpoints = breakpoints_.any() || written_.any();
    for_guests_.packet_size = packet_size_;
    guest_.emplace(std::move(*client), stub_, bell_, for_guests_);
  }
  if (!guest_)
    return {};
  const auto stays = guest_->serve(is_over);
  if (!stays)
    return Failure(stays.error());
  return *stays ? Result<void>() : dismiss();
}

Result<void> Bridge::dismiss() {
  if (!guest_)
    return {};
  auto left = guest_->leave();
  guest_.reset();
  threads_.forget_selection();
  memory_.forget_pages(); // it was here for longer than a debugger is silent
  return left;
}

/// nullopt: the debugger does not wait for a reply any more.
Result<std::optional<std::string>> Bridge::monitor(rsp::Debugger& debugger,
                                                   const std::string& packet) {
  if (!options_.monitor)
    return stub_.request(packet);
  auto answer = stands_still() ? options_.monitor(mpi_command(packet).value_or(""))
                               : MonitorAnswer("there is no process to look at\n");
  constexpr std::size_t frame = 16;
  const std::size_t most = std::max(packet_size_, 4 * frame) / 2 - frame;
  const auto print = [&](std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min(most, text.size())))
      debugger.reply("O" + rsp::encode_hex(text.substr(0, most)));
  };
  if (const auto* text = std::get_if<std::string>(&answer)) {
    print(*text);
    return "OK";
  }
  constexpr std::chrono::seconds longest_silence{1};
  MonitorCommand command(std::get<std::vector<std::string>>(answer), bell_);
  auto spoken = rsp::Bell::Clock::now();
  while (!command.is_over()) {
    if (debugger.has_input()) { // gdb's Ctrl-C: a 0x03, or that it asks something else
      const bool was_interrupt = debugger.take_interrupt();
      auto left = dismiss();
      return left ? Result<std::optional<std::string>>(
                        was_interrupt ? std::optional<std::string>("OK") : std::nullopt)
                  : forward(std::move(left));
    }
    if (auto attended = attend(true, [&] { return debugger.has_input(); }); !attended)
      return forward(std::move(attended));
    const std::string text = command.take(most);
    if (!text.empty() || rsp::Bell::Clock::now() - spoken >= longest_silence) {
      debugger.reply("O" + rsp::encode_hex(text));
      spoken = rsp::Bell::Clock::now();
    } else {
      bell_.wait(spoken + longest_silence);
    }
  }
  if (auto left = dismiss(); !left)
    return forward(std::move(left));
  return "OK";
}

} // namespace mqbridge
