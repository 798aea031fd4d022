#include "host/bridge/bridge.h"

#include "host/bridge/monitor_command.h"
#include "host/bridge/requests.h"
#include "host/bridge/ticker.h"
#include "host/memory/architecture.h"
#include "rsp/client/negotiation.h"
#include "rsp/codes.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/signal_names.h"
#include "rsp/packet/stop_reply.h"
#include "rsp/server/debugger.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

/// A debugger that was silent for so long begins something new: a command of its user.
constexpr std::chrono::milliseconds one_command{50};
/// And one that asks without a pause may wait for what others write.
constexpr std::chrono::seconds oldest_page{1};

/// Without what the bridge does not carry: in non-stop mode, the stub speaks without being asked.
std::string carried_features(std::string_view reply) {
  std::string kept;
  while (!reply.empty()) {
    const auto feature = reply.substr(0, reply.find(';'));
    reply.remove_prefix(std::min(feature.size() + 1, reply.size()));
    if (feature != "QNonStop+")
      kept += (kept.empty() ? "" : ";") + std::string(feature);
  }
  return kept;
}

/// Whether it writes the copy of an instruction, for a displaced step: on Linux, gdb has room for
/// it behind the first instructions of the program, each of which counts as long as a trap
/// (linux_displaced_step_location).
bool is_copy_for_step(const std::string& packet, std::optional<std::uint64_t> entry,
                      std::span<const std::string_view> traps) {
  const auto numbers = parse_two_numbers(packet.substr(1, packet.find(':') - 1));
  return numbers && entry && !WrittenBreakpoints::is_trap(packet, traps) &&
         std::ranges::any_of(traps, [&](std::string_view trap) {
           return !trap.empty() && numbers->second >= trap.size() &&
                  numbers->first == *entry + 2 * trap.size();
         });
}

/// Whether such a packet may be about the selected thread.
bool needs_selection(RequestKind kind) {
  return kind == RequestKind::look || kind == RequestKind::run || kind == RequestKind::change;
}

} // namespace

/// The debugger while one of its requests is answered.
class Bridge::Talk final : public rsp::RunWatcher {
public:
  Talk(rsp::Debugger& debugger, rsp::Connection& stub, const BridgeOptions& options)
      : debugger_(debugger), stub_(stub), options_(options) {}

  void console_output(std::string_view payload) override { debugger_.reply(payload); }
  bool answers_file_requests() const override { return true; }

  /// A debugger that has gone does not say any more that it wants the process to stop.
  bool take_interrupt() override {
    const auto early = std::exchange(early_, std::nullopt);
    const bool wanted = (early && Clock::now() - *early < until_it_runs_on) ||
                        debugger_.take_interrupt() ||
                        (debugger_.is_closed() && !std::exchange(stopped_for_leaving_, true));
    if (wanted) {
      interrupted_at_ = Clock::now();
      helped_ = false;
      ticker_.emplace(stub_);
    } else if (interrupted_at_) {
      look_further();
    }
    return wanted;
  }

  /// Whether a 0x03 was sent in this run that may still become a signal: it does so at once, or
  /// never.
  bool end_run() {
    ticker_.reset();
    const auto at = std::exchange(interrupted_at_, std::nullopt);
    return at && Clock::now() - *at < at_once;
  }

  /// 0x03 has come while the process stands still. Either the debugger has not read yet that it
  /// does, or it lets it run again at once: step by step, or behind a breakpoint whose condition is
  /// false.
  void note_early_interrupt() { early_ = Clock::now(); }

  rsp::Debugger& debugger() { return debugger_; }

private:
  /// A gdbserver signals the process group that has the number of the process, and there may be
  /// none.
  void look_further() {
    constexpr std::chrono::seconds until_it_is_left{5};
    const auto waited = Clock::now() - *interrupted_at_;
    if (waited > at_once && options_.interrupt && !std::exchange(helped_, true))
      options_.interrupt();
    if (waited > until_it_is_left && debugger_.is_closed())
      stub_.cancel();
  }

  static constexpr std::chrono::seconds at_once{1};
  /// Longer than a debugger takes between two steps, and shorter than its user takes for a command.
  static constexpr std::chrono::milliseconds until_it_runs_on{500};
  rsp::Debugger& debugger_;
  rsp::Connection& stub_;
  const BridgeOptions& options_;
  bool stopped_for_leaving_ = false;
  std::optional<Clock::time_point> early_;
  std::optional<Clock::time_point> interrupted_at_;
  bool helped_ = false;
  std::optional<Ticker> ticker_; ///< while `interrupted_at_` is set
};

Bridge::Bridge(rsp::Connection& stub, rsp::Door& door, rsp::Bell& bell, BridgeOptions options)
    : stub_(stub), door_(door), bell_(bell), options_(std::move(options)) {
  stub_.greet();
}

Result<Bridge::End> Bridge::serve(rsp::UniqueFd client, const std::stop_token& stop) {
  rsp::Debugger debugger(std::move(client), [this] {
    bell_.ring();
    if (runs_)
      stub_.wake();
  });
  const std::stop_callback send_away(stop, [&] { debugger.hang_up(); });
  Talk talk(debugger, stub_, options_);
  foresees_ = true;
  auto answered = Clock::now();
  auto forgotten = answered;
  // A look that has begun may end: a debugger grows impatient after a silence of two seconds.
  constexpr std::chrono::seconds patience{1};
  std::optional<Clock::time_point> waits_since;
  const auto is_impatient = [&] {
    if (!debugger.has_input())
      waits_since.reset();
    else if (!waits_since)
      waits_since = Clock::now();
    return waits_since && Clock::now() - *waits_since >= patience;
  };
  for (;;) {
    if (Clock::now() - answered > one_command || Clock::now() - forgotten > oldest_page) {
      memory_.forget_pages();
      forgotten = Clock::now();
    }
    const bool admits = !debugger.has_input() && stands_still();
    if (auto attended = attend(admits, is_impatient); !attended)
      return forward(std::move(attended));
    if (guest_ && !is_impatient()) {
      bell_.wait(Clock::now() + patience);
      continue;
    }
    if (auto left = dismiss(); !left)
      return forward(std::move(left));
    const auto input = debugger.take();
    if (!input) {
      bell_.wait();
      continue;
    }
    if (input->kind == rsp::Debugger::Input::Kind::closed)
      break;
    // The stub would keep it, and the process would get it as a signal, however late it runs.
    if (input->kind == rsp::Debugger::Input::Kind::interrupt) {
      talk.note_early_interrupt();
      continue;
    }
    const auto then = answer(talk, input->payload);
    if (!then)
      return Failure(then.error());
    if (*then == Then::end)
      return End::over;
    answered = Clock::now();
  }
  if (stub_.closed() || farewells().empty())
    return End::over;
  process_ran(); // another debugger finds nothing that was kept for this one
  if (auto refused = refuse_files(); !refused)
    return forward(std::move(refused));
  if (auto undone = calls_.undo({}); !undone)
    return forward(std::move(undone));
  if (auto out = breakpoints_.take_out_all(); !out)
    return forward(std::move(out));
  if (auto out = written_.take_out_all(); !out)
    return forward(std::move(out));
  threads_.forget_selection();
  selected_.clear();
  return End::vanished;
}

Result<Bridge::Then> Bridge::answer(Talk& talk, const std::string& packet) {
  const RequestKind kind = kind_of(packet);
  if (kind == RequestKind::monitor) {
    const auto reply = monitor(talk.debugger(), packet);
    if (!reply)
      return Failure(reply.error());
    if (*reply)
      talk.debugger().reply(**reply);
    return Then::go_on;
  }
  if (kind == RequestKind::restart && is_extended_) {
    auto restarted = restart(packet);
    return restarted ? Result<Then>(Then::go_on) : forward(std::move(restarted));
  }
  if (kind == RequestKind::kill) {
    if (auto settled = breakpoints_.settle(); !settled)
      return Failure(settled.error());
    auto gone = stub_.resume_and_leave(packet, rsp::limits::leaving);
    stub_.released();
    over_ = true;
    return gone ? Result<Then>(Then::end) : forward(std::move(gone));
  }
  const bool names_thread = packet.starts_with('T');
  if (needs_selection(kind) && !names_thread && !ThreadAnswers::is_question(packet)) {
    const auto settled = threads_.settle();
    if (!settled)
      return Failure(settled.error());
    if (!*settled) {
      talk.debugger().reply("E01"); // as the stub says of that thread
      return Then::go_on;
    }
  }
  Result<std::string> reply;
  switch (kind) {
  case RequestKind::negotiation:
    reply = negotiate(packet);
    break;
  case RequestKind::memory:
    reply = read_memory(packet);
    break;
  case RequestKind::object:
    reply = read_object(packet);
    break;
  case RequestKind::symbol:
    reply = symbols_.answer(packet, process_in(for_guests_.selection));
    break;
  case RequestKind::file:
    reply = read_file(packet);
    break;
  case RequestKind::file_change:
    reply = files_.answer(packet);
    process_ran(); // it may be a file that is kept, or the process's memory
    break;
  case RequestKind::breakpoint:
    reply = breakpoints_.answer(packet, memory_.has(place_of_breakpoint(packet)));
    break;
  case RequestKind::selection:
    reply = select(packet);
    break;
  case RequestKind::look:
    reply = look(packet);
    break;
  case RequestKind::run:
    reply = run(talk, packet);
    break;
  case RequestKind::farewell:
    reply = leave(packet);
    break;
  case RequestKind::no_acks: // the stub has its own
    reply = "OK";
    break;
  case RequestKind::change:
  case RequestKind::restart:
  case RequestKind::kill:
  case RequestKind::monitor:
    reply = change(packet);
    break;
  }
  if (!reply)
    return Failure(reply.error());
  talk.debugger().reply(*reply);
  if (kind == RequestKind::run && stands_still())
    if (auto asked = memory_.process_stopped(); !asked)
      return forward(std::move(asked));
  if (kind == RequestKind::run)
    know_mappings();
  return over_ ? Then::end : Then::go_on;
}

Result<std::string> Bridge::negotiate(const std::string& packet) {
  // lldb does not say it, and takes the place behind a breakpoint's instruction, where a process
  // without it stands, for that of the breakpoint.
  const bool knows = packet.find("swbreak+") != std::string::npos;
  const char* const more = packet.find(':') == std::string::npos ? ":swbreak+" : ";swbreak+";
  auto reply = stub_.request(packet + (knows ? "" : more));
  if (!reply)
    return reply;
  const rsp::Features features = rsp::parse_features(*reply);
  multiprocess_ = features.multiprocess;
  packet_size_ = features.packet_size;
  objects_.set_features(features);
  files_.set_features(features);
  memory_.set_features(features);
  if (farewells().empty())
    stub_.holds().add_detach_packet("D");
  if (features.no_ack && !stub_.no_ack()) {
    auto agreed = stub_.request("QStartNoAckMode");
    if (!agreed)
      return agreed;
    if (*agreed == "OK")
      stub_.set_no_ack();
  }
  // A debugger may not say it, and a detach would then hand 0x03 on to the process, as SIGINT.
  const bool takes_signals = reply->find("QProgramSignals+") != std::string::npos;
  if (takes_signals) {
    calls_.set_signals(rsp::signals_to_hand_on());
    if (auto told = stub_.request("QProgramSignals:" + rsp::signals_to_hand_on()); !told)
      return told;
  }
  for_guests_.features = carried_features(*reply);
  if (options_.process)
    if (auto attached = attach(); !attached)
      return forward(std::move(attached));
  return for_guests_.features;
}

/// Of a stub that holds nothing: what follows is as if it had held the process from the start.
Result<void> Bridge::attach() {
  const auto pid = *std::exchange(options_.process, std::nullopt);
  auto stop = stub_.request(fmt::format("vAttach;{:x}", pid));
  if (!stop)
    return Failure(stop.error());
  if (!rsp::parse_stop_reply(*stop))
    return fail("attach.refused",
                fmt::format("the stub does not attach to process {}: it answers '{}'", pid,
                            rsp::shorten(*stop)),
                "mqbridge doctor, with the same target, names the reason");
  learn_process(*stop);
  return {};
}

Result<std::string> Bridge::run(Talk& talk, const std::string& packet) {
  auto unsettled = breakpoints_.unsettled();
  process_ran();
  calls_.process_runs();
  runs_ = true;
  auto reply = stub_.resume(packet, &talk, unsettled);
  runs_ = false;
  if (reply)
    breakpoints_.settled(unsettled);
  for (const std::string& refused : breakpoints_.take_refused())
    talk.debugger().reply(
        "O" + rsp::encode_hex(fmt::format("mqbridge: the stub has refused a breakpoint that it had "
                                          "accepted before, and the process ran without it: {}\n",
                                          refused)));
  const bool interrupted = talk.end_run();
  if (!reply && reply.error().code == codes::interrupted)
    return fail("detach.refused",
                "the debugger has left, and the process does not stop for it: it runs on, and is "
                "let go at its next stop",
                "a gdbserver cannot interrupt a process that leads no process group");
  if (!reply)
    return reply;
  asks_for_files_ = reply->starts_with('F');
  keeps_interrupt_ = !is_interrupt(*reply) && (keeps_interrupt_ || interrupted);
  learn_process(*reply);
  // What the stub has selected now, without being told.
  threads_.selected(for_guests_.selection);
  if (calls_.any() && stands_still()) {
    if (auto seen = calls_.process_stopped(); !seen)
      return forward(std::move(seen));
    threads_.forget_selection();
  }
  if (const auto process = process_in(for_guests_.selection);
      !process.empty() && process != selected_)
    take_process(std::string(process));
  return reply;
}

/// The process "p1f" is gone, or another program now; empty: all of them.
void Bridge::forget_program(const std::string& process) {
  if (process.empty()) {
    breakpoints_.forget();
    written_.forget();
  } else {
    breakpoints_.forget(process);
    written_.forget(process);
  }
  calls_.forget(process);
  memory_.forget_program();
  platform_.reset();
  symbols_.forget_program();
}

void Bridge::process_ran() {
  foreseen_.forget();
  memory_.forget();
  symbols_.forget();
  objects_.forget();
  threads_.forget();
  files_.process_ran();
}

Result<std::string> Bridge::change(const std::string& packet) {
  if (auto settled = breakpoints_.settle(); !settled)
    return forward(std::move(settled));
  constexpr std::string_view writes = "GPMX";
  auto reply = writes.find(packet.front()) == writes.npos ? stub_.request(packet) : write(packet);
  process_ran();
  return reply;
}

/// Registers of the selected thread, or memory of its process.
Result<std::string> Bridge::write(const std::string& packet) {
  if (auto known = know_platform(); !known)
    return forward(std::move(known));
  if (packet.front() == 'G' || packet.front() == 'P')
    return calls_.write(packet, for_guests_.selection, *platform_);
  const auto traps = *platform_ ? std::span(architecture_of(**platform_).traps)
                                : std::span<const std::string_view>();
  // A thread that executes the copy of an instruction (`set displaced-stepping on`) could not be
  // let go. Without it, gdb takes the breakpoint out for the step.
  if (is_copy_for_step(packet, entry_, traps))
    return "E01";
  return written_.write(packet, selected_, traps);
}

/// The stub kills what it holds, starts the program anew, and says nothing.
Result<void> Bridge::restart(const std::string& packet) {
  if (auto told = stub_.tell(packet); !told)
    return told;
  for (const std::string& farewell : farewells())
    no_longer_held(farewell);
  forget_program({});
  process_ran();
  const auto stop = stub_.request("?");
  if (!stop)
    return Failure(stop.error());
  learn_process(*stop);
  threads_.selected(for_guests_.selection);
  return {};
}

} // namespace mqbridge
