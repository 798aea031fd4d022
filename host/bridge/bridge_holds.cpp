// Which processes the stub holds, and how they are let go.

#include "host/bridge/bridge.h"
#include "host/bridge/requests.h"
#include "host/bridge/ticker.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/stop_reply.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// "20" of "T05fork:p20.20;thread:p1f.1f;": a child that the stub holds, too. Empty: there is none.
std::string child_in(std::string_view stop_reply) {
  constexpr std::string_view name = "fork:p"; // and vfork
  const auto at = stop_reply.find(name);
  if (at == stop_reply.npos)
    return {};
  const auto number = stop_reply.substr(at + name.size());
  return std::string(number.substr(0, number.find('.')));
}

/// Interrupts a process that runs longer than it should, and gives up if that does not help.
class Impatience final : public rsp::RunWatcher {
public:
  explicit Impatience(rsp::Connection& stub) : stub_(stub), ticker_(stub) {}

  void console_output(std::string_view) override {}
  bool take_interrupt() override {
    constexpr std::chrono::milliseconds patience{500};
    constexpr int most_tries = 6;
    if (rsp::Bell::Clock::now() - since_ < patience)
      return false;
    since_ = rsp::Bell::Clock::now();
    if (++tries_ > most_tries)
      stub_.cancel();
    return tries_ <= most_tries;
  }

private:
  rsp::Connection& stub_;
  rsp::Bell::Clock::time_point since_ = rsp::Bell::Clock::now();
  int tries_ = 0;
  Ticker ticker_;
};

} // namespace

/// From a reply that names the process: "T05thread:p1f.1f;". Of a program that forks, the stub
/// holds several: each is let go by a packet of its own.
void Bridge::learn_process(const std::string& stop_reply) {
  const auto stop = rsp::parse_stop_reply(stop_reply);
  if (!stop)
    return;
  const bool ended =
      stop->kind == rsp::StopReply::Kind::exited || stop->kind == rsp::StopReply::Kind::signalled;
  const auto farewell = multiprocess_ && stop->pid ? fmt::format("D;{:x}", *stop->pid) : "D";
  if (ended)
    return no_longer_held(farewell);
  for_guests_.stop = stop_reply;
  if (stop->tid) // a debugger takes it for selected
    for_guests_.selection = multiprocess_ && stop->pid
                                ? fmt::format("Hgp{:x}.{:x}", *stop->pid, *stop->tid)
                                : fmt::format("Hg{:x}", *stop->tid);
  if (stop_reply.find("exec:") != std::string::npos) // another program, without them
    forget_program(std::string(process_in(for_guests_.selection)));
  if (const auto process = process_in(for_guests_.selection); selected_.empty() && !process.empty())
    take_process(std::string(process));
  memory_.set_process(stop->pid.value_or(stop->tid.value_or(0)));
  if (farewell == "D") {
    if (farewells().empty())
      stub_.holds().add_detach_packet(farewell);
    return;
  }
  stub_.holds().add_detach_packet(farewell);
  if (const std::string child = child_in(stop_reply); !child.empty()) {
    written_.inherit(std::string(process_in(for_guests_.selection)), "p" + child);
    stub_.holds().add_detach_packet("D;" + child);
  }
  stub_.holds().drop_detach_packet("D");
  written_.set_several(farewells().size() > 1);
}

void Bridge::no_longer_held(const std::string& farewell) {
  stub_.holds().drop_detach_packet(farewell);
  const std::string process = farewell.substr(0, 2) == "D;" ? "p" + farewell.substr(2) : "";
  calls_.forget(process);
  breakpoints_.forget(process);
  written_.forget(process);
  if (process_in(for_guests_.selection) == process) { // its threads are not to be selected any more
    for_guests_.selection.clear();
    threads_.selected({});
  }
  // A reply need not say which process has ended, if there is only one.
  if (const auto left = farewells(); left.size() == 1 && farewell == "D")
    stub_.holds().drop_detach_packet(left.front());
  written_.set_several(farewells().size() > 1);
  for_guests_.stop.clear(); // until the next one
  if (!farewells().empty())
    return;
  forget_program({});
  memory_.set_process(0);
}

/// The packets that let the processes go that the stub holds.
std::vector<std::string> Bridge::farewells() const {
  std::vector<std::string> packets;
  for (const std::string& packet : stub_.holds().detach_packets())
    if (packet.starts_with('D'))
      packets.push_back(packet);
  return packets;
}

/// What follows is about that process.
void Bridge::take_process(std::string process) {
  if (std::exchange(selected_, std::move(process)) != selected_)
    platform_.reset();
  breakpoints_.select(selected_);
  memory_.set_process(
      static_cast<std::int64_t>(rsp::parse_hex(std::string_view(selected_).substr(1)).value_or(0)));
}

/// 0x03 may have met a process that had just stopped. A gdbserver turns it into a SIGINT, of which
/// the process would die once it is let go: it runs until that signal stops it, and the detach
/// takes the signal away (QProgramSignals).
Result<void> Bridge::take_back_interrupt() {
  constexpr int most = 100; // stops for other reasons
  constexpr int trap = 5;   // SIGTRAP, in the protocol's numbers
  std::string packet = "vCont;c";
  for (int stops = 0; keeps_interrupt_ && stops < most; ++stops) {
    Impatience impatience(stub_);
    const auto reply = stub_.resume(packet, &impatience);
    if (!reply)
      return Failure(reply.error());
    keeps_interrupt_ = reply->starts_with('T') && !is_interrupt(*reply);
    learn_process(*reply);
    const auto stop = rsp::parse_stop_reply(*reply);
    const auto thread =
        for_guests_.selection.substr(std::min<std::size_t>(2, for_guests_.selection.size()));
    const bool has_signal = stop && stop->signal_or_status != 0 && stop->signal_or_status != trap;
    packet = has_signal && !thread.empty()
                 ? fmt::format("vCont;C{:02x}:{};c", stop->signal_or_status, thread)
                 : "vCont;c";
  }
  return {};
}

/// What the process has asked of the debugger fails as if a signal had come (EINTR), and it stops.
Result<void> Bridge::refuse_files() {
  if (!std::exchange(asks_for_files_, false))
    return {};
  Impatience impatience(stub_);
  const auto reply = stub_.resume("F-1,4,C", &impatience);
  if (!reply)
    return Failure(reply.error());
  learn_process(*reply);
  return {};
}

/// Before a farewell: nothing that the debugger has begun goes on in the process, or comes to it
/// later. `process`: "p1f"; empty: all.
Result<void> Bridge::calm(const std::string& process, bool is_last) {
  breakpoints_.forget_coming();
  if (auto settled = breakpoints_.settle(); !settled)
    return settled;
  if (auto undone = calls_.undo(process); !undone)
    return undone;
  auto taken = is_last ? take_back_interrupt() : Result<void>();
  process_ran();
  threads_.forget_selection();
  return taken;
}

/// Behind it the stub may be gone.
Result<std::string> Bridge::say_farewell(const std::string& packet) {
  const auto exemption = stub_.exempt(packet, rsp::limits::detaching);
  auto replies = stub_.request_last({}, packet, rsp::limits::detaching);
  return replies ? Result<std::string>(std::move(replies->back())) : Failure(replies.error());
}

Result<std::string> Bridge::leave(const std::string& packet) {
  // lldb writes the number with all of its zeros.
  const auto number =
      rsp::parse_hex(packet.substr(std::min(packet.find(';'), packet.size() - 1) + 1));
  const std::string farewell = number ? fmt::format("D;{:x}", *number) : "D";
  const std::string process = number && multiprocess_ ? fmt::format("p{:x}", *number) : "";
  const bool is_last = farewell == "D" || farewells() == std::vector{farewell};
  const bool kills = packet.starts_with("vKill");
  if (auto calmed = kills ? breakpoints_.settle() : calm(process, is_last); !calmed)
    return forward(std::move(calmed));
  const bool stays = !is_last || is_extended_; // a child that gdb leaves, or another may follow
  auto reply = stays ? stub_.request(packet) : say_farewell(packet);
  if (!reply)
    return reply;
  const bool is_refused = rsp::is_error_reply(*reply);
  if (!is_refused && !stays) {
    stub_.released();
    over_ = true;
    return reply;
  }
  if (!is_refused)
    no_longer_held(farewell);
  if (auto restored = calls_.restore_signals(); !restored)
    return forward(std::move(restored));
  if (const auto closing = memory_.take_farewells(); !closing.empty())
    if (auto closed = stub_.burst(closing); !closed)
      return forward(std::move(closed));
  return reply;
}

Result<void> Bridge::release() {
  if (multiprocess_ && farewells() == std::vector<std::string>{"D"}) { // of which process?
    const auto reply = stub_.request("?");
    if (!reply)
      return Failure(reply.error());
    learn_process(*reply);
  }
  if (auto calmed = calm({}, true); !calmed)
    return calmed;
  for (const std::string& farewell : farewells()) {
    const auto reply = say_farewell(farewell);
    if (!reply)
      return Failure(reply.error());
    if (*reply != "OK")
      return fail("detach.refused",
                  fmt::format("the debugger has left, and the stub answered '{}' to {}",
                              rsp::shorten(*reply), farewell),
                  "look whether the process runs: grep State /proc/PID/status");
    stub_.holds().drop_detach_packet(farewell);
  }
  stub_.released();
  return {};
}

} // namespace mqbridge
