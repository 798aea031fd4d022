#include "host/bridge/bridge.h"

#include "host/bridge/guesses.h"
#include "host/bridge/monitor_command.h"
#include "host/bridge/requests.h"
#include "rsp/client/negotiation.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/signal_names.h"
#include "rsp/packet/stop_reply.h"
#include "rsp/server/debugger.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

/// A debugger that was silent for so long begins something new: a command of its user.
constexpr std::chrono::milliseconds one_command{50};

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

/// "20" of "T05fork:p20.20;thread:p1f.1f;": a child that the stub holds, too. Empty: there is none.
std::string child_in(std::string_view stop_reply) {
  constexpr std::string_view name = "fork:p"; // and vfork
  const auto at = stop_reply.find(name);
  if (at == stop_reply.npos)
    return {};
  const auto number = stop_reply.substr(at + name.size());
  return std::string(number.substr(0, number.find('.')));
}

/// Whether such a packet may be about the selected thread.
bool needs_selection(RequestKind kind) {
  return kind == RequestKind::look || kind == RequestKind::run || kind == RequestKind::change;
}

/// "p1f" of "Hgp1f.20", and of "Hgp1f.20,8"; empty: the protocol names none.
std::string_view process_in(std::string_view selection) {
  const auto process = selection.substr(std::min<std::size_t>(2, selection.size()));
  return process.starts_with('p') ? process.substr(0, process.find('.')) : std::string_view();
}

} // namespace

/// The debugger while one of its requests is answered.
class Bridge::Talk final : public rsp::RunWatcher {
public:
  explicit Talk(rsp::Debugger& debugger) : debugger_(debugger) {}

  void console_output(std::string_view payload) override { debugger_.reply(payload); }

  /// A debugger that has gone does not say any more that it wants the process to stop.
  bool take_interrupt() override {
    const bool wanted = debugger_.take_interrupt() ||
                        (debugger_.is_closed() && !std::exchange(stopped_for_leaving_, true));
    interrupted_ = interrupted_ || wanted;
    return wanted;
  }

  /// Whether 0x03 was sent since the last call.
  bool take_interrupted() { return std::exchange(interrupted_, false); }

  rsp::Debugger& debugger() { return debugger_; }

private:
  rsp::Debugger& debugger_;
  bool stopped_for_leaving_ = false;
  bool interrupted_ = false;
};

namespace {

/// Interrupts a process that runs longer than it should.
class Impatience final : public rsp::RunWatcher {
public:
  explicit Impatience(rsp::Connection& stub)
      : timer_([this, &stub](const std::stop_token& ended) {
          constexpr std::chrono::milliseconds patience{500};
          std::unique_lock lock(mutex_);
          while (!ended.stop_requested())
            if (!condition_.wait_for(lock, ended, patience, [] { return false; }) &&
                !ended.stop_requested()) {
              over_ = true;
              stub.set_deadline(std::nullopt); // wakes it
            }
        }) {}

  void console_output(std::string_view) override {}
  bool take_interrupt() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(over_, false);
  }

private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  bool over_ = false;
  std::jthread timer_;
};

bool is_interrupt(const std::string& stop_reply) {
  constexpr int interrupt = 2; // SIGINT, in the protocol's numbers
  const auto stop = rsp::parse_stop_reply(stop_reply);
  return stop && stop->kind == rsp::StopReply::Kind::stopped && stop->signal_or_status == interrupt;
}

} // namespace

Bridge::Bridge(rsp::Connection& stub, rsp::Door& door, rsp::Bell& bell, BridgeOptions options)
    : stub_(stub), door_(door), bell_(bell), options_(std::move(options)) {
  stub_.greet();
}

Result<Bridge::End> Bridge::serve(rsp::UniqueFd client, const std::stop_token& stop) {
  rsp::Debugger debugger(std::move(client), [this] {
    bell_.ring();
    stub_.wake();
  });
  const std::stop_callback send_away(stop, [&] { debugger.hang_up(); });
  Talk talk(debugger);
  auto answered = Clock::now();
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
    if (Clock::now() - answered > one_command)
      memory_.forget_pages();
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
    // 0x03 of a debugger that has not read yet that the process stands still. The stub would keep
    // it, and the process would get it as a signal later.
    if (input->kind == rsp::Debugger::Input::Kind::interrupt)
      continue;
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
  if (auto out = breakpoints_.take_out_all(); !out)
    return forward(std::move(out));
  threads_.forget_selection();
  selected_.clear();
  return End::vanished;
}

/// A process that is held, and of which it is known how it has stopped.
bool Bridge::stands_still() const {
  return !farewells().empty() && !for_guests_.stop.empty();
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
    for_guests_.has_breakpoints = breakpoints_.any();
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
  return left;
}

Result<Bridge::Then> Bridge::answer(Talk& talk, const std::string& packet) {
  const RequestKind kind = kind_of(packet);
  if (kind == RequestKind::monitor) {
    const auto reply = monitor(talk, packet);
    if (!reply)
      return Failure(reply.error());
    if (*reply)
      talk.debugger().reply(**reply);
    return Then::go_on;
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
    reply = breakpoints_.answer(packet);
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
  case RequestKind::kill:
  case RequestKind::monitor:
    reply = change(packet);
    break;
  }
  if (!reply)
    return Failure(reply.error());
  talk.debugger().reply(*reply);
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
  if (reply->find("QProgramSignals+") != std::string::npos)
    if (auto told = stub_.request("QProgramSignals:" + rsp::signals_to_hand_on()); !told)
      return told;
  for_guests_.features = carried_features(*reply);
  *reply = for_guests_.features;
  return options_.process ? attach(std::move(*reply)) : reply;
}

/// Of a stub that holds nothing: what follows is as if it had held the process from the start.
Result<std::string> Bridge::attach(std::string reply) {
  const auto pid = *std::exchange(options_.process, std::nullopt);
  const auto stop = stub_.request(fmt::format("vAttach;{:x}", pid));
  if (!stop)
    return stop;
  if (!rsp::parse_stop_reply(*stop))
    return fail("attach.refused",
                fmt::format("the stub does not attach to process {}: it answers '{}'", pid,
                            rsp::shorten(*stop)),
                "mqbridge doctor, with the same target, names the reason");
  learn_process(*stop);
  return reply;
}

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

Result<std::string> Bridge::run(Talk& talk, const std::string& packet) {
  if (auto settled = breakpoints_.settle(); !settled)
    return forward(std::move(settled));
  process_ran();
  auto reply = stub_.resume(packet, &talk);
  if (!reply)
    return reply;
  const bool interrupted = talk.take_interrupted();
  keeps_interrupt_ = !is_interrupt(*reply) && (keeps_interrupt_ || interrupted);
  learn_process(*reply);
  // What the stub has selected now, without being told.
  threads_.selected(for_guests_.selection);
  if (const auto process = process_in(for_guests_.selection);
      !process.empty() && process != selected_)
    take_process(std::string(process));
  return reply;
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

Result<std::string> Bridge::read_memory(const std::string& packet) {
  if (symbols_.waits())
    return stub_.request(packet);
  memory_.set_root(files_.root());
  const bool knew = !memory_.mappings().empty();
  auto reply = memory_.answer(packet);
  if (!knew)
    know_mappings();
  return reply;
}

/// gdb reads them, too, a piece at a time.
void Bridge::know_mappings() {
  if (!memory_.mappings().empty())
    for (const std::string& path : memory_.mappings_paths())
      files_.know(path, memory_.mappings());
}

Result<std::string> Bridge::read_file(const std::string& packet) {
  if (memory_.mappings().empty() && !symbols_.waits())
    for (const std::string& path : memory_.mappings_paths())
      if (packet.starts_with(std::string(open_name) + rsp::encode_hex(path) + ",")) {
        memory_.set_root(files_.root());
        if (auto known = memory_.know_mappings(); !known)
          return forward(std::move(known));
        know_mappings();
      }
  return files_.answer(packet);
}

Result<std::string> Bridge::read_object(const std::string& packet) {
  const bool knew = !objects_.libraries().empty();
  auto reply = objects_.answer(packet);
  if (reply && !knew && !objects_.libraries().empty())
    files_.expect(libraries_in(objects_.libraries()));
  return reply;
}

void Bridge::forget_program() {
  breakpoints_.forget();
  symbols_.forget_program();
}

void Bridge::process_ran() {
  memory_.forget();
  symbols_.forget();
  objects_.forget();
  threads_.forget();
  files_.process_ran();
}

Result<std::string> Bridge::look(const std::string& packet) {
  constexpr std::string_view thread_local_address = "qGetTLSAddr:";
  if (packet.starts_with(thread_local_address))
    if (auto told = symbols_.tell(process_in("Hg" + packet.substr(thread_local_address.size())));
        !told)
      return forward(std::move(told));
  if (ThreadAnswers::is_question(packet))
    return ask_threads(packet);
  if (packet.starts_with('T')) // whether it lives: while the process stands still, no thread ends
    if (const auto all = threads_in(objects_.threads());
        std::ranges::find(all, "Hg" + packet.substr(1)) != all.end())
      return "OK";
  auto reply = stub_.request(packet);
  if (reply && packet == "?") {
    learn_process(*reply);
    threads_.forget_selection();
  }
  return reply;
}

Result<std::string> Bridge::select(const std::string& packet) {
  const bool is_general = packet.starts_with("Hg");
  auto process = selected_process(packet);
  const bool is_other = !process.empty() && process != selected_;
  if (is_general && !is_other && !process.empty()) { // a thread of the same process
    threads_.select(packet);
    for_guests_.selection = packet;
    return "OK";
  }
  if (is_other) {
    if (auto settled = breakpoints_.settle(); !settled)
      return forward(std::move(settled));
    if (!selected_.empty())
      process_ran(); // what is kept is that of the other one
    take_process(std::move(process));
  }
  auto reply = stub_.request(packet);
  if (reply && *reply == "OK" && is_general) {
    threads_.selected(packet);
    for_guests_.selection = packet;
  }
  return reply;
}

/// Of a thread, which the debugger asks for each.
Result<std::string> Bridge::ask_threads(const std::string& question) {
  auto all = threads_in(objects_.threads());
  std::erase_if(all, [&](const std::string& thread) {
    return process_in(thread) != process_in(for_guests_.selection);
  });
  return threads_.answer(question, all);
}

/// nullopt: the debugger does not wait for a reply any more.
Result<std::optional<std::string>> Bridge::monitor(Talk& talk, const std::string& packet) {
  if (!options_.monitor)
    return stub_.request(packet);
  auto answer = stands_still() ? options_.monitor(mpi_command(packet).value_or(""))
                               : MonitorAnswer("there is no process to look at\n");
  rsp::Debugger& debugger = talk.debugger();
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
  auto spoken = Clock::now();
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
    if (!text.empty() || Clock::now() - spoken >= longest_silence) {
      debugger.reply("O" + rsp::encode_hex(text));
      spoken = Clock::now();
    } else {
      bell_.wait(spoken + longest_silence);
    }
  }
  if (auto left = dismiss(); !left)
    return forward(std::move(left));
  return "OK";
}

Result<std::string> Bridge::change(const std::string& packet) {
  if (auto settled = breakpoints_.settle(); !settled)
    return forward(std::move(settled));
  auto reply = stub_.request(packet);
  process_ran();
  return reply;
}

Result<std::string> Bridge::leave(const std::string& packet) {
  if (auto settled = breakpoints_.settle(); !settled)
    return forward(std::move(settled));
  // lldb writes the number with all of its zeros.
  const auto number =
      rsp::parse_hex(packet.substr(std::min(packet.find(';'), packet.size() - 1) + 1));
  const std::string farewell = number ? fmt::format("D;{:x}", *number) : "D";
  if (farewell != "D" && farewells() != std::vector{farewell}) { // a child that gdb leaves
    auto reply = stub_.request(packet);
    if (reply && *reply == "OK") {
      stub_.holds().drop_detach_packet(farewell);
      breakpoints_.forget(fmt::format("p{:x}", number.value_or(0)));
      process_ran();
    }
    return reply;
  }
  if (auto taken = take_back_interrupt(); !taken)
    return forward(std::move(taken));
  const auto exemption = stub_.exempt(packet, rsp::limits::detaching);
  auto replies = stub_.request_last({}, packet, rsp::limits::detaching);
  if (!replies)
    return forward(std::move(replies));
  if (!rsp::is_error_reply(replies->back())) {
    stub_.released();
    over_ = true;
  }
  return std::move(replies->back());
}

Result<void> Bridge::release() {
  if (auto taken = take_back_interrupt(); !taken)
    return taken;
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
