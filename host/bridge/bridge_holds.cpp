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
    forget_program();
  if (const auto process = process_in(for_guests_.selection); selected_.empty() && !process.empty())
    take_process(std::string(process));
  memory_.set_process(stop->pid.value_or(stop->tid.value_or(0)));
  if (farewell == "D")
    return;
  stub_.holds().add_detach_packet(farewell);
  if (const std::string child = child_in(stop_reply); !child.empty())
    stub_.holds().add_detach_packet("D;" + child);
  stub_.holds().drop_detach_packet("D");
}

void Bridge::no_longer_held(const std::string& farewell) {
  stub_.holds().drop_detach_packet(farewell);
  calls_.forget(farewell.substr(0, 2) == "D;" ? "p" + farewell.substr(2) : "");
  // A reply need not say which process has ended, if there is only one.
  if (const auto left = farewells(); left.size() == 1 && farewell == "D")
    stub_.holds().drop_detach_packet(left.front());
  for_guests_.stop.clear(); // until the next one
  if (!farewells().empty())
    return;
  forget_program();
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
  selected_ = std::move(process);
  breakpoints_.select(selected_);
  memory_.set_process(
      static_cast<std::int64_t>(rsp::parse_hex(std::string_view(selected_).substr(1)).value_or(0)));
}

/// 0x03 may have met a process that had just stopped. A gdbserver turns it into a SIGINT, of which
/// the process would die once it is let go: it runs until that signal stops it, and the detach
/// takes the signal away (QProgramSignals).
Result<void> Bridge::take_back_interrupt() {
  constexpr int most = 100; // stops for other reasons
  for (int stops = 0; keeps_interrupt_ && stops < most; ++stops) {
    Impatience impatience(stub_);
    const auto reply = stub_.resume("vCont;c", &impatience);
    if (!reply)
      return Failure(reply.error());
    keeps_interrupt_ = reply->starts_with('T') && !is_interrupt(*reply);
    learn_process(*reply);
  }
  return {};
}

/// Nothing that the debugger has begun goes on in the process, or comes to it later.
Result<void> Bridge::calm() {
  if (auto undone = calls_.undo(); !undone)
    return undone;
  return take_back_interrupt();
}

Result<std::string> Bridge::leave(const std::string& packet) {
  if (auto settled = breakpoints_.settle(); !settled)
    return forward(std::move(settled));
  // lldb writes the number with all of its zeros.
  const auto number =
      rsp::parse_hex(packet.substr(std::min(packet.find(';'), packet.size() - 1) + 1));
  const std::string farewell = number ? fmt::format("D;{:x}", *number) : "D";
  const bool is_last = farewell == "D" || farewells() == std::vector{farewell};
  if (is_last)
    if (auto calmed = calm(); !calmed)
      return forward(std::move(calmed));
  if (!is_last || is_extended_) { // a child that gdb leaves, or another process may follow
    auto reply = stub_.request(packet);
    if (!reply || rsp::is_error_reply(*reply))
      return reply;
    const auto process = number ? fmt::format("p{:x}", *number) : "";
    breakpoints_.forget(process);
    calls_.forget(process);
    process_ran();
    if (is_last)
      no_longer_held(farewell);
    else
      stub_.holds().drop_detach_packet(farewell);
    return reply;
  }
  const auto exemption = stub_.exempt(packet, rsp::limits::detaching);
  auto replies = stub_.request_last(memory_.farewells(), packet, rsp::limits::detaching);
  if (!replies)
    return forward(std::move(replies));
  if (!rsp::is_error_reply(replies->back())) {
    stub_.released();
    over_ = true;
  }
  return std::move(replies->back());
}

Result<void> Bridge::release() {
  if (multiprocess_ && farewells() == std::vector<std::string>{"D"}) { // of which process?
    const auto reply = stub_.request("?");
    if (!reply)
      return Failure(reply.error());
    learn_process(*reply);
  }
  if (auto calmed = calm(); !calmed)
    return calmed;
  for (const std::string& farewell : farewells()) {
    const auto exemption = stub_.exempt(farewell, rsp::limits::detaching);
    auto replies = stub_.request_last({}, farewell, rsp::limits::detaching);
    if (!replies)
      return forward(std::move(replies));
    if (replies->back() != "OK")
      return fail("detach.refused",
                  fmt::format("the debugger has left, and the stub answered '{}' to {}",
                              rsp::shorten(replies->back()), farewell),
                  "look whether the process runs: grep State /proc/PID/status");
    stub_.holds().drop_detach_packet(farewell);
  }
  stub_.released();
  return {};
}

} // namespace mqbridge
