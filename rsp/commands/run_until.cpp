#include "rsp/commands/run_until.h"

#include "rsp/client/shared_stub.h"
#include "rsp/commands/life_check.h"
#include "rsp/exchange/connection.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/signal_names.h"

#include <fmt/format.h>
#include <string>
#include <variant>

namespace mqbridge::rsp {
namespace {

constexpr int sigtrap = 5;

/// The packets with which this stub lets the target run.
class Resumption {
public:
  Resumption(bool vcont, bool multiprocess) : vcont_(vcont), multiprocess_(multiprocess) {}

  /// If `signal` is 0, none is passed on.
  std::string packet(const Attachment& attachment, int signal) const {
    if (!vcont_)
      return signal == 0 ? "c" : fmt::format("C{:02x}", signal);
    // None of the other processes behind the server may run.
    const std::string process = multiprocess_ && attachment.pid > 0
                                    ? fmt::format(":p{:x}.-1", attachment.pid)
                                    : std::string();
    if (signal == 0)
      return fmt::format("vCont;c{}", process);
    const std::string stopped = thread(attachment.stop);
    if (stopped.empty()) // a stub that names no thread has one
      return fmt::format("vCont;C{:02x}{}", signal, process);
    return fmt::format("vCont;C{:02x}{};c{}", signal, stopped, process);
  }

private:
  static std::string thread(const StopReply& stop) {
    if (!stop.tid)
      return {};
    return stop.pid ? fmt::format(":p{:x}.{:x}", *stop.pid, *stop.tid)
                    : fmt::format(":{:x}", *stop.tid);
  }

  bool vcont_;
  bool multiprocess_;
};

/// Whether "vCont;c;C;s;S", the reply with the stub's actions, has the ones that are needed.
bool has_vcont(std::string_view reply) {
  return reply.starts_with("vCont") && reply.find(";c") != reply.npos &&
         reply.find(";C") != reply.npos;
}

Failure ended(Client& client, const StopReply& stop) {
  client.released();
  const auto how = stop.kind == StopReply::Kind::signalled
                       ? fmt::format("by {}", signal_name(stop.signal_or_status))
                       : fmt::format("with exit status {}", stop.signal_or_status);
  return fail(
      "run.exited",
      fmt::format("{}: the process ended {} before the signal came", client.endpoint().text, how),
      "start it again; --run-until signal (any) shows which signals come");
}

Failure refused(const Client& client, std::string_view packet, std::string_view reply) {
  return fail("run.unsupported",
              fmt::format("{}: the stub does not let the process run: it answered '{}' to {}",
                          client.endpoint().text, shorten(reply), packet),
              "let it run with a debugger until it stops, then dump without --run-until");
}

bool wanted(const RunUntil& until, int signal) {
  return until.signal ? signal == *until.signal : signal != 0;
}

Result<StopReply> resume(Client& client, const std::string& packet) {
  auto reply = client.connection().resume(packet);
  if (!reply)
    return forward(std::move(reply));
  if (reply->empty() || is_error_reply(*reply))
    return refused(client, packet, *reply);
  auto stop = parse_stop_reply(*reply);
  if (stop && (stop->kind == StopReply::Kind::exited || stop->kind == StopReply::Kind::signalled))
    return ended(client, *stop);
  if (stop && stop->kind == StopReply::Kind::none)
    return refused(client, packet, *reply);
  return stop;
}

Failure trapped(const Client& client) {
  return fail("run.traps",
              fmt::format("{}: the process stopped {} times with SIGTRAP before the signal came",
                          client.endpoint().text, limits::traps),
              "it may stand at a breakpoint that a debugger left: start it again");
}

/// Selects the thread that stopped: the one that was selected before may have ended.
void select_stopped(Client& client, const StopReply& stop) {
  client.stub()->set_selected(0);
  if (client.process() != 0)
    client.set_process(client.process(), stop.tid.value_or(client.process()));
}

/// gdbserver passes the signal of the last stop on when it detaches. QEMU forgets the signal: we
/// have to pass it on and leave QEMU running. On a Unix socket that is impossible: QEMU's next
/// packet to nobody would end its process by SIGPIPE. False: the signal will not reach the target.
bool pass_on_when_left(Client& client, const Resumption& resumption, const Attachment& attachment) {
  const int signal = attachment.stop.signal_or_status;
  if (!client.connection().holds().closing_releases() || signal == sigtrap || signal == 0)
    return true;
  if (std::holds_alternative<UnixEndpoint>(client.endpoint().where))
    return false;
  client.connection().holds().set_leave_packet(resumption.packet(attachment, signal));
  return true;
}

} // namespace

Result<RunReport> run_until(Client& client, const RunUntil& until, Attachment& attachment) {
  client.forget_ahead();
  client.life().forget();
  // Requests that are to be sent along (a file to be closed) leave first: the policy of running
  // does not allow them.
  if (auto sent = client.burst({}); !sent)
    return forward(std::move(sent));
  const auto permit = client.connection().permit(run_policy());
  auto actions = client.request_unselected("vCont?");
  if (!actions)
    return forward(std::move(actions));
  const Resumption resumption(has_vcont(*actions), client.features().multiprocess);
  RunReport report;
  const auto start = std::chrono::steady_clock::now();
  int traps = 0;
  for (int passed_on = 0;;) {
    auto stop = resume(client, resumption.packet(attachment, passed_on));
    if (!stop)
      return forward(std::move(stop));
    attachment.stop = *stop;
    select_stopped(client, *stop);
    const int signal = stop->signal_or_status;
    if (wanted(until, signal)) {
      report.signal = signal;
      report.signal_lost = !pass_on_when_left(client, resumption, attachment);
      break;
    }
    if (signal == sigtrap && ++traps == limits::traps)
      return trapped(client);
    passed_on = signal == sigtrap ? 0 : signal;
    if (passed_on != 0)
      ++report.passed[signal];
  }
  report.ran = std::chrono::steady_clock::now() - start;
  attachment.stopped_before_us = false;
  return report;
}

} // namespace mqbridge::rsp
