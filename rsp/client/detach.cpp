#include "rsp/client/detach.h"

#include "rsp/client/client.h"
#include "rsp/client/process_life.h"
#include "rsp/client/shared_stub.h"
#include "rsp/exchange/connection.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/stop_reply.h"

#include <fmt/format.h>
#include <optional>
#include <string>

namespace mqbridge::rsp {
namespace {

/// Closing the connection detaches the client: a QEMU that is told to detach would go on taking
/// part in a conversation that nobody has with it. If a signal stopped the target, it is delivered.
Result<void> leave(Client& client) {
  Connection& connection = client.connection();
  const std::string packet = connection.holds().leave_packet();
  if (!packet.empty()) {
    const auto permit = connection.permit(run_policy());
    if (auto left = connection.resume_and_leave(packet, limits::leaving); !left)
      return left;
  }
  connection.close();
  client.released();
  return {};
}

/// The reply to the detach packet. A stub with multiprocess+ has to be told which process is meant;
/// a client that is given up before attach() has not learnt that and asks for it. (If a server
/// holds processes for other clients, only the one named by `@PID` would be ours to let go.)
Result<std::string> let_go(Client& client) {
  const bool may_need_name = client.detach_packet() == "D" && !client.endpoint().pid;
  auto reply = client.request_last(client.detach_packet(), limits::unclear_detaching);
  if (!reply || !may_need_name || !is_error_reply(*reply))
    return reply;
  auto current = client.request_unselected("?");
  if (!current)
    return current;
  const auto stop = parse_stop_reply(*current);
  if (!stop || stop->kind != StopReply::Kind::stopped || !stop->pid)
    return reply;
  client.set_detach_packet(fmt::format("D;{:x}", *stop->pid));
  return client.request_last(client.detach_packet(), limits::unclear_detaching);
}

/// Whether the stub still knows the process. The question names no thread, since a thread may have
/// ended. Nullopt: the stub does not tell.
std::optional<bool> still_held(Client& client) {
  const std::string_view packet = client.detach_packet();
  if (!packet.starts_with("D;"))
    return std::nullopt;
  client.stub()->set_selected(0);
  const auto selected = client.request_unselected(fmt::format("Hgp{}.-1", packet.substr(2)));
  if (selected && is_error_reply(*selected))
    return false;
  return selected && *selected == "OK" ? std::optional(true) : std::nullopt;
}

/// Calls let_go() where the reply may be late, lost, or behind another reply that came twice. The
/// stub is told to let go in any case, and a second time only if it says that it has not.
Result<std::string> let_go_for_sure(Client& client) {
  Connection& connection = client.connection();
  if (connection.in_doubt())
    (void)connection.resynchronise(limits::unclear_detaching);
  auto reply = let_go(client);
  if (reply || !connection.in_doubt() || connection.closed())
    return reply;
  if (auto in_step = connection.resynchronise(); !in_step)
    return reply;
  const auto held = still_held(client);
  if (!held)
    return reply;
  return *held ? let_go(client) : "OK";
}

} // namespace

Result<void> detach(Client& client) {
  Connection& connection = client.connection();
  client.forget_ahead();
  if (client.detach_packet().empty())
    return {};
  // Nothing may be sent to a running target; if its stub still holds it, the guardian releases it.
  if (connection.running())
    return {};
  const auto exemption = connection.exempt(client.detach_packet(), limits::detaching);
  if (connection.holds().closing_releases())
    return leave(client);
  const std::string question = client.selected() ? client.life().question() : std::string();
  if (!question.empty())
    client.ask_ahead(question);
  auto reply = let_go_for_sure(client);
  if (!reply)
    return forward(std::move(reply));
  if (const auto answer = client.answer_ahead(question))
    client.life().take(*answer);
  if (reply->starts_with('W') || reply->starts_with('X')) {
    client.life().end();
  } else if (*reply != "OK") {
    return fail("detach.refused",
                fmt::format("the stub at {} answered '{}' to {}", client.endpoint().text,
                            shorten(*reply), client.detach_packet()),
                "look whether the process runs: grep State /proc/PID/status");
  }
  client.released();
  return {};
}

} // namespace mqbridge::rsp
